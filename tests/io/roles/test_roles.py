# SPDX-License-Identifier: Apache-2.0
"""Roles of eighty-seven schemas in seventeen languages, by the file and by a pilot of it; and each rule by itself."""

import numpy as np
import polars as pl
import pytest
from faker import Faker

from overt.io.profiling import profile_file
from overt.io.roles.header_words import Meaning, meanings_of, words_of
from overt.io.roles.role_choice import is_private_by_name
from overt.table import Kind, Role
from schemas.held_out import HELD_OUT
from schemas.held_out_again import HELD_OUT_AGAIN
from schemas.held_out_fifth import HELD_OUT_FIFTH
from schemas.held_out_fourth import HELD_OUT_FOURTH
from schemas.held_out_seventh import HELD_OUT_SEVENTH
from schemas.held_out_sixth import HELD_OUT_SIXTH
from schemas.held_out_third import HELD_OUT_THIRD
from schemas.messy import MESSY
from schemas.proposals import LETTERS, proposed_roles, share_right
from schemas.tables import SCHEMAS

KINDS = {
    "twenty schemas": SCHEMAS,
    "held out": HELD_OUT,
    "held out again": HELD_OUT_AGAIN,
    "messy exports": MESSY,
    "held out, third": HELD_OUT_THIRD,
    "held out, fourth": HELD_OUT_FOURTH,
    "held out, fifth": HELD_OUT_FIFTH,
    "held out, sixth": HELD_OUT_SIXTH,
    "held out, seventh": HELD_OUT_SEVENTH,
}
ALL = tuple(schema for schemas in KINDS.values() for schema in schemas)
LEAST_RIGHT = 0.95


@pytest.mark.parametrize("schema", ALL, ids=lambda schema: schema.name)
def test_no_identifier_is_proposed_as_anything_else(schema, tmp_path):
    path = tmp_path / "data.csv"
    schema.frame().write_csv(path)
    pilot = np.sort(np.random.default_rng(1).choice(schema.n_rows, 60, replace=False))
    of_pilot = {c.name: LETTERS[c.role] for c in profile_file(path, draw=lambda _n, _whose: pilot).columns}
    for found in (proposed_roles(schema), of_pilot):
        missed = [name for name, letters in schema.expected.items() if letters == "I" and found[name] != "I"]
        assert not missed


def test_nearly_all_roles_are_proposed_right():
    for kind, schemas in KINDS.items():
        n_right, n_columns, wrong = share_right(schemas)  # `python -m bench roles` prints them
        assert n_right >= LEAST_RIGHT * n_columns, (kind, wrong)


def role(name, cells, n=200):
    cells = [cells(i) for i in range(n)] if callable(cells) else cells
    frame = pl.DataFrame(
        {name: cells, "other": list(range(len(cells))), "gender": ["mw"[i % 2] for i in range(len(cells))]}
    )
    return frame, name


@pytest.fixture
def proposed(tmp_path):
    def profile(name, cells, n=200):
        frame, _ = role(name, cells, n)
        frame.write_csv(tmp_path / "data.csv")
        return profile_file(tmp_path / "data.csv").columns[0]

    return profile


NAMES = ["Anna", "Maria", "Peter", "Thomas", "Julia", "Laura", "Paul", "Sofia"]


@pytest.mark.parametrize(
    "remark",
    [
        "call Anna Meyer{} 0228/1234{}",
        "+49 228 1234567 is her son{}",
        "ask anna{}@example.org",
        "phone (555) 123-4567 {}",
    ],
)
def test_what_people_keep_to_themselves_is_not_released_if_its_texts_reach_somebody(remark, proposed):
    cells = [remark.format(i, i) if i % 10 == 0 else "sent by the ward" for i in range(200)]
    assert proposed("Reason", cells).role is Role.IDENTIFIER
    plain = ["since 01/2024", "01.02.2024 seen at 10-12", "4 x 500 mg, 0.25 12 hours", "J45.0 asthma", "mmHg 120/80"]
    assert proposed("Reason", [plain[i % 5] for i in range(200)]).role is Role.SENSITIVE


def test_notes_of_several_words_are_remarks_and_grades_are_not(proposed):
    notes = ["see file", "her wife has called twice", "walks with a stick"]
    assert proposed("Note", [notes[i % 3] for i in range(200)]).role is Role.IDENTIFIER
    grades = ["sehr gut", "gut", "befriedigend", "ausreichend"]
    assert proposed("Note", [grades[i % 4] for i in range(200)]).role is Role.SENSITIVE


def test_few_names_among_many_rows_are_identifiers(proposed):
    assert proposed("Name", [NAMES[i % 8] for i in range(2_000)]).role is Role.IDENTIFIER
    assert (
        proposed("field_7", [f"{NAMES[i % 8]} {NAMES[(i // 8) % 8]}son" for i in range(2_000)]).role is Role.IDENTIFIER
    )
    assert proposed("town", [("Bonn", "Paris", "Sofia")[i % 3] for i in range(200)]).role is Role.QUASI_IDENTIFIER


def test_titles_and_full_names_are_names_whatever_the_header_seems_to_say(proposed):
    assert proposed("Station 2", lambda i: f"Dr. {('Quast', 'Zeh', 'Ohm', 'Ruf')[i % 4]}").role is Role.IDENTIFIER
    assert proposed("x", lambda i: ("Mrs Quast", "Mr Zeh-Ohm")[i % 2]).role is Role.IDENTIFIER
    assert proposed("Bill", lambda i: f"{NAMES[i % 8]} Quast{'aeiou'[i % 5]}").role is Role.IDENTIFIER  # no amounts
    assert (
        proposed("City", lambda i: ("San Antonio", "Santa Maria", "Sankt Peter")[i % 3]).role is Role.QUASI_IDENTIFIER
    )


@pytest.mark.parametrize("form", ["${:,.0f}", "{:,.2f} €", "EUR {:.2f}", "{:.2f}", "CHF {:,.2f}"])
def test_amounts_are_sensitive_however_they_are_written(proposed, form):
    found = proposed("agx", lambda i: form.format(17.37 * (i * 7919 % 104_729)), n=300)
    assert (found.role, found.reason) == (
        Role.SENSITIVE,
        "an amount or a measurement; its name does not say that others know it",
    )


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (lambda i: f"u{i % 50}@example.org", "e-mail"),
        (lambda i: f"+49 228 {100000 + i % 90}", "telephone"),
        (lambda i: f"{i % 90 + 1} Mill Road", "postal addresses"),
        (lambda i: f"10.0.{i % 9}.{i % 50}", "internet"),
        (lambda i: f"the patient was seen {i % 70} times and went home well", "free text"),
        (lambda i: f"{50 + i / 7919:.6f}", "coordinates"),
        (lambda i: ("DE89370400440532013000", "GB29NWBK60161331926819")[i % 2], "check digits"),
    ],
)
def test_cells_tell_what_a_header_does_not(proposed, cells, words):
    found = proposed("x1", cells)
    assert found.role is Role.IDENTIFIER
    assert words in found.reason


def test_codes_of_diagnoses_and_medicines_are_sensitive_whatever_the_header(proposed):
    assert proposed("c1", lambda i: ("I10", "E11.9", "J45.0")[i % 3]).role is Role.SENSITIVE
    assert proposed("c2", lambda i: ("A10BA02", "N06AB06")[i % 2]).role is Role.SENSITIVE
    assert proposed("Mental health flag", lambda i: ("Y", "N")[i % 2]).role is Role.SENSITIVE


def test_dates_are_no_telephone_numbers(proposed):
    found = proposed("x", lambda i: f"{i % 12 + 1:02}/{i % 28 + 1:02}/19{i % 90 + 10}")
    assert (found.role, found.kind) == (Role.QUASI_IDENTIFIER, Kind.DATE)
    assert found.formats.formats == ("%m/%d/%Y",)


def test_a_number_with_an_odd_cell_stays_a_number_and_says_where_the_cell_is(proposed):
    found = proposed("age", lambda i: "unclear" if i == 17 else str(i % 60 + 18))
    assert (found.role, found.kind) == (Role.QUASI_IDENTIFIER, Kind.NUMBER)
    assert str(found.odd) == "line 19"
    assert proposed("class", lambda i: ("1", "2", "3", "4", "5", "6a")[i % 6]).kind is Kind.CATEGORY
    assert proposed("x", lambda i: f"{i % 50:03}" if i % 40 else "abc").kind is Kind.CATEGORY  # zeros in front


def test_counts_flags_and_amounts_with_words_of_numbers_are_no_identifiers(proposed):
    assert proposed("number of children", lambda i: str(i % 5)).role is Role.QUASI_IDENTIFIER
    assert proposed("e-mail consent", lambda i: ("yes", "no")[i % 2]).role is not Role.IDENTIFIER
    assert proposed("nombre d'enfants", lambda i: str(i % 5)).role is Role.QUASI_IDENTIFIER
    assert proposed("invoice amount", lambda i: f"{i * 1.37:.2f}").role is Role.SENSITIVE


def test_headers_are_compared_by_their_words():
    assert words_of("Geb.-Datum") == "geb datum"
    assert words_of("XÉnoName") == "xeno name"
    assert is_private_by_name("discharge diagnosis") and not is_private_by_name("discharge date")
    assert not is_private_by_name("support") and not is_private_by_name("parents")


def test_of_a_sensitive_column_only_the_pilot_is_looked_at_even_if_its_cells_alone_say_so(tmp_path):
    path = tmp_path / "data.csv"
    pl.DataFrame({"c1": ["I10", "E11.9"] * 150, "hiv": ["yes", "no"] * 150, "age": range(300)}).write_csv(path)
    pilot = np.arange(40)
    code, hiv, _ = profile_file(path, draw=lambda _n, _whose: pilot).columns
    assert (code.role, code.column.codes.size) == (Role.SENSITIVE, 40)
    assert (hiv.role, hiv.column.codes.size) == (Role.SENSITIVE, 40)
    none = profile_file(path, draw=lambda _n, _whose: None).columns
    assert [column.column for column in none[:2]] == [None, None]


LOCALES = [
    "ar_SA",
    "az_AZ",
    "cs_CZ",
    "da_DK",
    "de_DE",
    "el_GR",
    "en_IN",
    "en_US",
    "es_MX",
    "et_EE",
    "fi_FI",
    "fr_FR",
    "hr_HR",
    "hu_HU",
    "it_IT",
    "ja_JP",
    "lt_LT",
    "lv_LV",
    "nl_NL",
    "no_NO",
    "pl_PL",
    "pt_BR",
    "ro_RO",
    "ru_RU",
    "sk_SK",
    "sl_SI",
    "sv_SE",
    "tr_TR",
    "uk_UA",
    "vi_VN",
    "zh_CN",
]


@pytest.mark.parametrize("locale", LOCALES)
def test_full_names_of_many_languages_are_known_under_a_header_that_says_nothing(locale, proposed):
    faker = Faker(locale)  # its names are other people's list
    faker.seed_instance(1)
    names = [faker.name() for _ in range(60)]
    found = proposed("zq 7", lambda i: names[i % 60], n=2_000)
    assert found.role is Role.IDENTIFIER, found.reason


@pytest.mark.parametrize("provider", ["city", "job", "country", "color_name", "state"])
def test_words_that_name_no_person_are_not_taken_for_names(provider, proposed):
    faker = Faker("en_US")
    faker.seed_instance(1)
    words = [getattr(faker, provider)() for _ in range(60)]
    assert "people's" not in proposed("zq 7", lambda i: words[i % 60], n=2_000).reason
    headers = {"city": "City", "job": "Occupation", "country": "Country", "color_name": "Colour", "state": "State"}
    assert proposed(headers[provider], lambda i: words[i % 60], n=2_000).role is Role.QUASI_IDENTIFIER


def test_numbers_of_six_digits_are_no_dates(proposed):
    drawn = np.random.default_rng(4).integers(100_000, 1_000_000, 400)
    found = proposed("zq 7", [str(n) for n in drawn])
    assert (found.role, found.kind) == (Role.IDENTIFIER, Kind.NUMBER)  # 1234-5-6 was taken for a day of the year 1234
    assert proposed("zq 7", lambda i: str(1940 + i % 60)).role is Role.QUASI_IDENTIFIER  # a year


def test_what_a_header_leaves_open_is_kept_if_it_is_a_count_or_if_few_have_it(proposed):
    assert proposed("zq 7", lambda i: str(i * 37 % 90)).role is Role.SENSITIVE
    assert proposed("zq 7", lambda i: str(i % 2)).role is Role.SENSITIVE
    assert proposed("zq 7", lambda i: ("yes", "no", "unknown")[i % 3]).role is Role.SENSITIVE
    assert proposed("zq 7", lambda i: "theft" if i % 12 == 0 else "none").role is Role.SENSITIVE
    assert proposed("zq 7", lambda i: ("theft", "fraud", "")[min(i % 12, 2)]).role is Role.SENSITIVE
    assert proposed("zq 7", lambda i: ("north", "south", "west")[i % 3]).role is Role.OTHER
    assert proposed("Region", lambda i: ("north", "south", "west")[i % 3]).role is Role.QUASI_IDENTIFIER
    assert proposed("zq 7", lambda i: ("m", "w", "M", "d", "unbekannt")[i % 5]).role is Role.QUASI_IDENTIFIER
    assert proposed("zq 7", lambda i: f"B{i % 90:02}X", n=200).role is Role.IDENTIFIER


def test_a_word_that_is_listed_wins_over_an_ending_of_another_meaning():
    assert meanings_of("postnr") == {Meaning.PUBLIC}
    assert Meaning.ADDRESS not in meanings_of("tip_amount") and Meaning.PHONE not in meanings_of("Suchtmittel")
    assert meanings_of("Patient no") >= {Meaning.PERSON, Meaning.NUMBER}


def test_amounts_that_nobody_shares_are_left_out_where_other_sensitive_values_would_stand_beside_them(tmp_path):
    path, pilot = tmp_path / "data.csv", np.arange(0, 2_000, 20)
    rng = np.random.default_rng(8)
    columns = {
        "age": rng.integers(20, 90, 2_000),
        "HIV": rng.choice(["yes", "no"], 2_000, p=[0.02, 0.98]),
        "bill amount": np.round(rng.lognormal(8, 0.7, 2_000), 2),
        "body weight": np.round(rng.normal(75, 12, 2_000)),
    }

    def roles(**changed):
        pl.DataFrame({**columns, **changed}).write_csv(path)
        return {c.name: str(c.role) for c in profile_file(path, draw=lambda _n, _whose: pilot).columns}

    found = roles()
    assert found == {"age": "quasi-identifier", "HIV": "sensitive", "bill amount": "other", "body weight": "sensitive"}
    outside = np.setdiff1d(np.arange(2_000), pilot)
    alike = columns["bill amount"].copy()
    alike[outside] = alike[pilot[0]]
    assert roles(**{"bill amount": alike}) == found  # what people outside of the pilot have has no say
    few = columns["bill amount"].round(-3)
    assert roles(**{"bill amount": few})["bill amount"] == "sensitive"
    pl.DataFrame({name: columns[name] for name in ("age", "bill amount")}).write_csv(path)
    alone = profile_file(path, draw=lambda _n, _whose: pilot).columns[1]
    assert alone.role is Role.SENSITIVE  # nothing would stand beside it


def test_small_numbers_and_amounts_that_few_have_number_nobody(proposed):
    assert (
        proposed("L4 dni", lambda i: str(i * 7 % 61)).role is not Role.IDENTIFIER
    )  # days, and not the number of a Spaniard
    assert proposed("zq 7", lambda i: str(37 * i + 20) if i % 9 == 0 else "", n=600).role is Role.SENSITIVE
    assert proposed("zq 7", lambda i: str(10_037 + 37 * i) if i % 9 == 0 else "", n=600).role is Role.IDENTIFIER
    assert proposed("Patient no", lambda i: str(i % 61)).role is Role.IDENTIFIER


def test_what_nothing_is_known_of_is_not_released_and_that_is_said(tmp_path):
    rng = np.random.default_rng(2)
    columns = {"age": rng.integers(20, 90, 400), "zq": rng.choice([1, 2, 3], 400), "wx": rng.choice(["a", "b"], 400)}
    pl.DataFrame(columns).write_csv(tmp_path / "data.csv")
    profile = profile_file(tmp_path / "data.csv")
    assert [column.role for column in profile.columns] == [Role.QUASI_IDENTIFIER, Role.OTHER, Role.OTHER]
    assert "neither header nor cells" in profile.columns[1].reason and profile.unclear == "zq, wx"
    del columns["age"]  # questions by number: there would be no recipe, so it is said that these are guesses
    pl.DataFrame(columns).write_csv(tmp_path / "data.csv")
    profile = profile_file(tmp_path / "data.csv")
    assert {column.role for column in profile.columns} == {Role.QUASI_IDENTIFIER}
    assert profile.perhaps_known == "zq, wx" and not profile.unclear


def test_surnames_that_nobody_listed_are_no_quasi_identifiers(proposed):
    names = [
        "Quast",
        "Zehrer",
        "Ohmke",
        "Rufst",
        "Trempl",
        "Gschnitz",
        "Oberhub",
        "Plank",
        "Wurz",
        "Tschol",
        "Egg-Ruf",
        "Zangl",
    ]
    assert proposed("zq", lambda i: names[i % 12]).role is Role.IDENTIFIER
    assert proposed("zq", lambda i: names[i % 12].upper()).role is Role.IDENTIFIER
    assert proposed("zq", lambda i: names[i % 5]).role is Role.OTHER  # few words may be anything
    assert proposed("town", lambda i: names[i % 12]).role is Role.QUASI_IDENTIFIER


def test_full_names_under_a_header_of_trades_or_places_are_identifiers(proposed):
    surnames = ["Quast", "Zehrer", "Ohmke", "Rufst", "Trempl"]
    for form in ("{0} {1}", "{1}, {0}"):
        full = [form.format(one, other) for one in NAMES for other in surnames]
        assert proposed("Profession", lambda i, full=full: full[i % 40]).role is Role.IDENTIFIER
    towns = ["San Antonio", "Santa Maria", "Sankt Peter", "Saint Paul", "San Juan", "Santa Ana", "San Luis"]
    assert proposed("Town", lambda i: f"{towns[i % 7]} {i % 4}".strip(" 0")).role is Role.QUASI_IDENTIFIER


def test_codes_of_diagnoses_are_known_without_their_point(proposed):
    codes = ["I214", "E119", "J189", "A419", "N179", "Z3800"]
    assert proposed("c1", lambda i: codes[i % 6]).role is Role.SENSITIVE
    assert proposed("c1", lambda i: f"E0{100 + i % 60}").role is not Role.SENSITIVE  # codes of small areas


def visits(head, who, n_persons=150, seed=5):
    """Two rows of everybody: what `who` gives of a person, and a birth, a sex, a day and a diagnosis."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n_persons):
        birth, sex = f"{1930 + person % 70}-{person % 12 + 1:02}-{person % 28 + 1:02}", "mf"[person % 2]
        seen = [(f"2023-{rng.integers(1, 13):02}-15", rng.choice(["I10", "E11.9"])) for _ in range(2)]
        rows.extend((*who(person), birth, sex, *visit) for visit in seen)
    return pl.DataFrame(rows, schema=[*head, "DOB", "sx", "seen", "dx"], orient="row")


@pytest.mark.parametrize(
    ("header", "who"),
    [
        ("zq", lambda p: f"6{p * 7919 % 99_991:07}"),
        ("zq", lambda p: f"u{p}@example.org"),
        ("zq", lambda p: f"{NAMES[p % 8]} Quast{'abcdefghijklmnopqrst'[p // 8]}"),
        ("Full name", lambda p: f"{NAMES[p % 8]} Quast{'abcdefghijklmnopqrst'[p // 8]}"),
    ],
)
def test_persons_are_found_by_any_column_that_tells_them_apart(header, who, tmp_path):
    visits([header], lambda p: (who(p),)).write_csv(tmp_path / "data.csv")
    found = profile_file(tmp_path / "data.csv").persons
    assert found is not None and (found.column, found.n_persons) == (header, 150)


def test_places_are_no_persons(tmp_path):
    rng = np.random.default_rng(6)
    place = rng.integers(0, 60, 600)
    columns = {
        "zq": [f"S{p:05}" for p in place],
        "town": [f"T{p % 20}" for p in place],
        "region": [f"R{p % 5}" for p in place],
        "DOB": [f"{rng.integers(1930, 2000)}-{rng.integers(1, 13):02}-10" for _ in place],
    }
    pl.DataFrame(columns).write_csv(tmp_path / "data.csv")
    assert profile_file(tmp_path / "data.csv").persons is None


def test_persons_who_are_named_in_two_columns_and_numbered_in_none_are_refused_by_the_recipe(tmp_path):
    who = lambda p: (f"Quast{'abcdefghijklmnopqrst'[p // 8]}", NAMES[p % 8])  # noqa: E731
    visits(["Last name", "First name"], who).write_csv(tmp_path / "data.csv")
    profile = profile_file(tmp_path / "data.csv")
    [told] = [column for column in profile.columns if column.repeats]
    assert profile.persons is None and told.name == "Last name"
    assert "150 rows have the same Last name, First name and DOB as an earlier row" in told.reason
    visits(["Last name", "First name"], who).unique(["Last name", "First name"]).write_csv(tmp_path / "data.csv")
    assert not any(column.repeats for column in profile_file(tmp_path / "data.csv").columns)


def test_what_is_private_by_the_cells_of_others_alone_is_not_published_as_known(tmp_path):
    amounts = [f"{10 + i / 70_000:.5f}" for i in range(100)] + [f"{20 + i * 0.37:.2f}" for i in range(500)]
    pl.DataFrame({"age": [i % 70 for i in range(600)], "zq": amounts}).write_csv(tmp_path / "data.csv")
    _, found = profile_file(tmp_path / "data.csv", draw=lambda _n, _whose: np.arange(100)).columns
    assert found.role in (Role.IDENTIFIER, Role.OTHER)  # coordinates in the pilot, amounts otherwise


def test_namesakes_with_different_births_are_no_person(tmp_path):
    rng = np.random.default_rng(7)
    who = [f"{NAMES[i % 8]} Quast{'abcdefghijklmnopqrst'[i // 8]}" for i in rng.integers(0, 150, 300)]
    births = [f"{rng.integers(1930, 2000)}-{rng.integers(1, 13):02}-10" for _ in who]
    columns = {
        "Account holder no": who,
        "DOB": births,
        "closed": ["2023-01-01" if i % 20 == 0 else "" for i in range(300)],
    }
    pl.DataFrame({**columns, "moved": [str(i) if i % 30 == 0 else "" for i in range(300)]}).write_csv(
        tmp_path / "data.csv"
    )
    assert profile_file(tmp_path / "data.csv").persons is None  # what is hardly ever known never differs


def test_births_that_are_written_in_two_ways_are_the_same(tmp_path):
    who = lambda p: (f"Quast{'abcdefghijklmnopqrst'[p // 8]}", NAMES[p % 8])  # noqa: E731
    frame = visits(["Last name", "First name"], who).with_columns(
        DOB=pl.when(pl.int_range(pl.len()) % 2 == 0)
        .then("DOB")
        .otherwise(pl.col("DOB").str.to_date().dt.strftime("%d.%m.%Y"))
    )
    frame.write_csv(tmp_path / "data.csv")
    assert [c.name for c in profile_file(tmp_path / "data.csv").columns if c.repeats] == ["Last name"]
    full = frame.with_columns(Name=pl.col("First name") + " " + pl.col("Last name")).drop("First name", "Last name")
    full.write_csv(tmp_path / "data.csv")
    found = profile_file(tmp_path / "data.csv").persons
    assert found is not None and (found.column, found.n_persons) == ("Name", 150)
