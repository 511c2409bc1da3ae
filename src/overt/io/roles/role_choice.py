# SPDX-License-Identifier: Apache-2.0
# Tested through tests/io/roles/test_roles.py
"""Which role a column seems to play: what its header says, what its cells look like, how many different ones there are.

The rules stand in the order in which they are asked; the first that has an answer gives the role and its reason. What names, numbers
or reaches a person is never released, so these rules come first, and in doubt they win. A person decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from overt.io.roles.cell_shapes import Shape, are_capitalized, begin_with_first_names, shape_of
from overt.io.roles.header_words import Meaning, meanings_of
from overt.table import Kind, Role

OFTEN_REPEATED = 0.5  # a column with fewer different values than this share of rows is no name of a row
FEW_ROWS = 20  # in so many rows anything is unique
FEW_SEXES = 8  # different ways to write them, with what stands for no answer
SOME = 10  # different words: with fewer, they hardly name persons who vary
FEW = 20  # different values, as hospitals, wards and classes have
MANY = 50  # different amounts
UNCLEAR = "neither header nor cells say what it is; not released unless you give it a role"
MOSTLY_THE_SAME = 0.85  # the share of rows with one value beside which others are something special
SELDOM_KNOWN = 0.3  # the share of rows with any value, where having one is something special
MOSTLY_UNIQUE = 0.95  # the share of rows with a value of their own
LONG_CODE = 8  # letters and digits: longer than postcodes are
RECORD_CODE = 10  # letters and digits: longer than codes of diagnoses, medicines and industries are
RECORD_DIGITS = 5  # of numbers that all have as many and count nothing
RECORDED = 0.1  # different ones of these, as a share of rows
CODED = 0.25  # different codes, as a share of rows: more than places or diagnoses have
NUMBERED = 0.02  # of the rows: a column of numbers of persons has more different values
REACHING = (Meaning.EMAIL, Meaning.PHONE, Meaning.ADDRESS)
NAMING = (Shape.TITLED, Shape.FULL_NAMES, Shape.NAMES)
TELLING = (Shape.EMAIL, Shape.UUID, Shape.LINK, Shape.ACCOUNT, Shape.TITLED)  # shapes that nothing else has
_MONEY = r"^(?:(?:[€$£¥]|EUR|USD|GBP|CHF) ?)?(.*?)(?: ?(?:[€$£¥]|EUR|USD|GBP|CHF|PLN|zł|TL|₺|kr\.?))?$"
_AMOUNT = r"^[-+]?(?:\d+|\d{1,3}(?:[.,'’\s]\d{3})+)(?:[.,]\d{1,2})?$"
_REACHED_IN = (  # a text in which there is an e-mail address, or a telephone number beside words
    r"[^\s@]+@[^\s@]+\.\p{L}{2,}|"
    r"\+\d{2,3}[ /-]?\d{2,5}[ /-]?\d{5,}|"
    r"\p{L}.*\b0\d{1,5}[ /-]\d{2,}[ -]?\d{3,}|"
    r"\p{L}.*\b\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}\b"
)
_YES_NO = frozenset(["yes", "no", "y", "n", "ja", "nein", "j", "nee", "oui", "non", "o", "si", "sì", "sí", "s", "sim", "não", "var", "yok", "evet", "hayır", "tak", "nie", "nej", "true", "false", "t", "f", "0", "1", "wahr", "falsch", "vrai", "faux", "x", "igen", "nem", "ano", "ne", "áno", "da", "nu", "kyllä", "ei", "так", "ні", "да", "нет", "ναι", "όχι", "pos", "neg", "positive", "negative", "positiv", "negativ", "positif", "négatif", "positivo", "negativo", "+", "-", "present", "absent"])  # fmt: skip
_SEXES = frozenset(["m", "f", "w", "d", "x", "u", "h", "k", "v", "e", "male", "female", "man", "woman", "mann", "frau", "männlich", "weiblich", "divers", "homme", "femme", "masculin", "féminin", "hombre", "mujer", "masculino", "femenino", "feminino", "varón", "maschio", "femmina", "uomo", "donna", "vrouw", "kobieta", "mężczyzna", "erkek", "kadın", "kvinna", "kvinne", "kvinde", "muž", "žena", "férfi", "nő", "mies", "nainen", "homem", "mulher"])  # fmt: skip
_NO_ANSWER = frozenset(["?", "unknown", "unbekannt", "k.a.", "k. a.", "keine angabe", "n.a.", "n/a", "na", "nsp", "ne sait pas", "inconnu", "ns/nc", "ns", "nc", "n.k.", "dk", "don't know", "refused", "no answer", "desconocido", "onbekend", "nieznane", "brak", "bilinmiyor", "okänd", "desconhecido", "9", "99", "declined", "uoplyst", "ei vastausta", "ei tietoa", "nevím", "nem tudja", "nu știu", "vet ej", "sem resposta", "no sabe", "weiß nicht"])  # fmt: skip


@dataclass(frozen=True)
class Look:
    """What is known of a column when its role is chosen."""

    name: str
    kind: Kind
    texts: pl.Series  # its different cells, as texts, without missing ones
    n_rows: int
    n_known: int  # rows in which it is not missing
    dates: str = ""  # how well its cells are dates, in words; empty if they are not
    is_fraction: bool = False  # numbers with decimals, or written with marks between thousands or a sign of money
    top_share: float = 0.0  # of the rows in which it is known, those with the most frequent value


@dataclass(frozen=True)
class Choice:
    """A role, and why."""

    role: Role
    reason: str
    repeats: bool = False  # it seems to name persons, and names some of them more than once
    by_count: bool = False  # only because many rows have a value of their own

    @property
    def is_telling(self) -> bool:
        """Whether its header or the shape of its cells says that it is an identifier."""
        return self.role is Role.IDENTIFIER and not self.by_count


def is_private_by_name(name: str) -> bool:
    """Whether a header speaks of what people keep to themselves, so that values may be looked at in a pilot alone."""
    meanings = meanings_of(name)
    return Meaning.SENSITIVE in meanings and Meaning.WEIGHT not in meanings


def choice_by_name(name: str) -> Choice:
    """The role of a column at which nobody may look: what names, numbers or reaches somebody is an identifier all the same."""
    meanings = meanings_of(name)
    if Meaning.STAFF in meanings or any(meaning in meanings for meaning in REACHING):
        return Choice(Role.IDENTIFIER, "its name says that it names or reaches a person")
    return Choice(Role.SENSITIVE, _KEPT)


def choose_role(look: Look) -> Choice:
    """The role that a column seems to play."""
    return next(_Judgement(look).answers())


_KEPT = "its name says that it is something people keep to themselves"
_REACHES = "its name says that it names or reaches a person"


class _Judgement:
    """The rules, and what they ask."""

    def __init__(self, look: Look) -> None:
        self.look = look
        self.meanings = meanings_of(look.name)
        self.shape = None if look.dates else shape_of(look.texts)
        self.n_distinct = len(look.texts)
        self.share = self.n_distinct / max(1, look.n_known)
        answers = {*look.texts.str.to_lowercase().to_list()} if self.n_distinct <= 4 else set()
        self.is_flag = len(answers - _NO_ANSWER) <= 2 and answers - _NO_ANSWER <= _YES_NO if answers else False
        self.is_sex = self.n_distinct <= FEW_SEXES and _are_sexes(
            {*look.texts.str.to_lowercase().to_list()} - _NO_ANSWER
        )
        self.n_letters = float(look.texts.str.len_chars().mean() or 0)  # type: ignore[arg-type]
        self.is_text = look.kind is Kind.CATEGORY and float(look.texts.str.contains(r"\p{L}").mean() or 0) > 0.5  # type: ignore[arg-type]
        self.is_coded = bool(look.texts.str.contains(r"\d").all())
        self.is_decimal = look.is_fraction or _are_amounts(look.texts)

        self.is_year = look.kind is Kind.NUMBER and bool(look.texts.str.contains(r"^(?:19|20)\d\d$").all())
        is_dated = Meaning.DATE in self.meanings and not self.is_decimal
        self.is_unknown = not is_dated and not self.says(Meaning.SENSITIVE, Meaning.PUBLIC, Meaning.THING)
        self.is_unknown_thing = not is_dated and not self.says(Meaning.SENSITIVE, Meaning.PUBLIC)

    def says(self, *meanings: Meaning) -> bool:
        return any(meaning in self.meanings for meaning in meanings)

    def answers(self) -> Iterator[Choice]:
        look, says = self.look, self.says
        if self.n_distinct == 0:
            yield Choice(Role.OTHER, "empty in every row")
        if self.n_distinct == 1 and look.n_known == look.n_rows:
            yield Choice(Role.OTHER, "the same in every row")
        if self.shape in TELLING:
            yield self._by_shape()
        if look.kind is Kind.NUMBER and says(Meaning.WEIGHT):
            yield Choice(Role.OTHER, "a weight of the sample by its name; not released unless [output] names it")
        if look.dates:
            yield Choice(Role.QUASI_IDENTIFIER, look.dates)
        yield from self._identifiers()
        if says(Meaning.SENSITIVE):
            yield Choice(Role.SENSITIVE, _KEPT)
        if self.shape in (Shape.DIAGNOSES, Shape.MEDICINES):
            yield Choice(Role.SENSITIVE, f"its values {self.shape.value}")
        is_record = self.share > MOSTLY_UNIQUE and self.n_letters >= LONG_CODE and self.is_coded
        if is_record and look.kind is Kind.CATEGORY and not self.is_decimal:
            yield Choice(Role.IDENTIFIER, "codes that nearly every row has for itself", by_count=True)
        if (says(Meaning.PUBLIC) or (says(Meaning.DATE) and not self.is_decimal)) and not (
            says(Meaning.PERSON) and self.is_number_of_person()
        ):
            yield self._known_to_others()
        yield from self._unique()
        yield from self._rather_private()
        if (
            self.meanings <= {Meaning.NAME, Meaning.STAFF, Meaning.PERSON}
            and self.n_distinct > SOME
            and are_capitalized(look.texts)
        ):
            yield Choice(
                Role.IDENTIFIER, "words written like surnames, and its name does not say what they are", by_count=True
            )
        yield self._known_to_others()

    def _identifiers(self) -> Iterator[Choice]:
        """What names, numbers or reaches somebody: by the header together with the cells, or by the cells alone."""
        says, shape, has_other = self.says, self.shape, self.says(Meaning.SENSITIVE, Meaning.PUBLIC, Meaning.THING)
        if says(*REACHING) and not self.is_flag and (not says(Meaning.PUBLIC) or shape in (Shape.PHONE, Shape.ADDRESS)):
            yield Choice(Role.IDENTIFIER, _REACHES)
        if shape is Shape.PHONE and not has_other and not self.is_decimal:
            yield self._by_shape()
        if says(Meaning.NAME) and self.is_text and not self.is_flag and (not has_other or shape in NAMING):
            yield Choice(Role.IDENTIFIER, "its name says that it names a person")
        if says(Meaning.STAFF) and self.is_text and not self.is_flag and shape in (None, *NAMING):
            yield Choice(Role.IDENTIFIER, "its name says that it names somebody who treats or serves a person")
        if says(Meaning.TEXT) and self.is_text and float(self.look.texts.str.count_matches(r"\S+").mean() or 0) >= 2:  # type: ignore[arg-type]
            yield Choice(Role.IDENTIFIER, "remarks, which may say anything")
        if self.look.kind is Kind.CATEGORY and bool(self.look.texts.str.contains(_REACHED_IN).any()):
            yield Choice(Role.IDENTIFIER, "some of its texts hold a telephone number or an e-mail address")
        if says(Meaning.NUMBER) and self.is_number_of_person():
            yield self._number()
        if says(Meaning.PERSON) and not says(Meaning.SENSITIVE, Meaning.PUBLIC, Meaning.DATE) and self._is_varied():
            yield self._number()
        is_sure = shape is Shape.FULL_NAMES and self.n_distinct > FEW and begin_with_first_names(self.look.texts)
        if is_sure or (shape is Shape.FULL_NAMES and not says(Meaning.PUBLIC, Meaning.THING)):
            yield self._by_shape()
        if shape in NAMING and not has_other:
            yield self._by_shape()
        if shape is Shape.LIKE_NAMES and self.is_unknown:
            yield self._by_shape()
        if shape is Shape.ADDRESS and not says(Meaning.PUBLIC, Meaning.SENSITIVE):
            yield self._by_shape()
        if shape is Shape.TEXT and not (says(Meaning.PUBLIC, Meaning.SENSITIVE) and self.share < OFTEN_REPEATED):
            yield self._by_shape()
        if shape is Shape.COORDINATES and not has_other:
            yield self._by_shape()

    def is_number_of_person(self) -> bool:
        """Whether cells can be numbers of persons, records or cases: not amounts, counts, flags or a few places."""
        if self.is_decimal or self.is_flag:
            return False
        is_small = self.look.kind is Kind.NUMBER and bool((self.look.texts.str.len_chars() <= 2).all())
        if is_small and self.share < 1 and not self.says(Meaning.PERSON):
            return False  # days, visits and ages, whatever else their header may mean
        is_long = self.n_letters >= 5 and bool(self.look.texts.str.contains(r"\d").all())
        if self.says(Meaning.PERSON) and not self.says(Meaning.SENSITIVE, Meaning.PUBLIC):
            return is_long or self._is_varied()
        if self.says(Meaning.SENSITIVE, Meaning.PUBLIC, Meaning.THING):
            return is_long and self.share > 0.05 and not self.says(Meaning.THING)
        return is_long or self._is_varied()

    def _is_varied(self) -> bool:
        return not self.is_decimal and self.n_distinct > max(FEW, self.look.n_rows * NUMBERED)

    def _number(self) -> Choice:
        names_persons = self.says(Meaning.PERSON, Meaning.NUMBER) and not self.says(Meaning.HOUSEHOLD)
        if names_persons and self.says(Meaning.PERSON) and self.share < 1:
            many = f"{self.look.n_known:,} rows have only {self.n_distinct:,} different ones"
            return Choice(Role.IDENTIFIER, f"named like a person, and {many}", repeats=True)
        return Choice(Role.IDENTIFIER, "its name says that it numbers a person, a record or a case")

    def _by_shape(self) -> Choice:
        assert self.shape is not None
        return Choice(Role.IDENTIFIER, f"its values {self.shape.value}")

    def _unique(self) -> Iterator[Choice]:
        """What stands in one row alone names it."""
        is_measured = self.look.is_fraction or self.is_decimal
        is_seldom = self.look.kind is Kind.NUMBER and self.look.n_known < self.look.n_rows / 2
        is_amount = (
            is_seldom and self.look.texts.str.len_chars().n_unique() > 1
        )  # of which a few people have different ones
        if self.share == 1 and self.look.n_rows > FEW_ROWS and not is_measured and not is_amount:
            yield Choice(Role.IDENTIFIER, "unique per row", by_count=True)
        if (
            self.look.kind is Kind.CATEGORY
            and self.share > OFTEN_REPEATED
            and not is_measured
            and self.n_distinct > FEW
        ):
            share = f"{self.share:.0%}".replace("%", " %")
            yield Choice(Role.IDENTIFIER, f"text that {share} of rows have for themselves", by_count=True)
        lengths = self.look.texts.str.len_chars()
        is_code = self.is_coded and self.n_letters >= RECORD_CODE and lengths.n_unique() == 1
        if is_code and not is_measured and self._is_varied() and self.is_unknown_thing:
            yield Choice(
                Role.IDENTIFIER, f"codes of {int(self.n_letters)} letters and digits, as records and things have"
            )
        if (
            self.look.kind is Kind.CATEGORY
            and self.is_coded
            and not is_measured
            and self.is_unknown
            and self.share > CODED
        ):
            yield Choice(Role.IDENTIFIER, "codes of which there are nearly as many as rows", by_count=True)
        is_record = self.is_unknown and lengths.n_unique() == 1 and self.share > RECORDED
        is_digits = self.n_letters >= (RECORD_DIGITS if is_record else 7)
        is_digits = is_digits and bool(self.look.texts.str.contains(r"^\d+$").all())
        if is_digits and self._is_varied():
            yield Choice(Role.IDENTIFIER, "long numbers that count nothing, as records have")

    def _rather_private(self) -> Iterator[Choice]:
        """What a header that nobody knows leaves open: flags, amounts, counts and what few have say something that others seldom know."""
        look = self.look
        if not self.is_unknown:
            return
        if self.is_year:
            yield Choice(Role.QUASI_IDENTIFIER, "looks like a year")
        if self.is_flag:
            yield Choice(Role.SENSITIVE, "a yes or no about a person; its name does not say that others know it")
        if self.is_decimal and self.n_distinct > MANY:
            yield Choice(Role.SENSITIVE, "an amount or a measurement; its name does not say that others know it")
        if look.kind is Kind.NUMBER and self.n_distinct > FEW:
            yield Choice(Role.SENSITIVE, "a count or a measurement; its name does not say that others know it")
        if self.n_distinct <= FEW and look.top_share >= MOSTLY_THE_SAME:
            yield Choice(Role.SENSITIVE, "nearly everybody has one value; who has another has something special")
        if self.n_distinct <= FEW and look.n_known < SELDOM_KNOWN * look.n_rows:
            yield Choice(Role.SENSITIVE, "few have any value; who has one has something special")

    def _known_to_others(self) -> Choice:
        if not self.says(Meaning.PUBLIC, Meaning.DATE, Meaning.THING) and not self.is_sex:
            return Choice(Role.OTHER, UNCLEAR)
        return Choice(Role.QUASI_IDENTIFIER, f"{self.n_distinct:,} different values that others may know")


def _are_sexes(answers: set[str]) -> bool:
    """Whether answers are sexes, by their letters or their words."""
    pairs = ({"m", "f"}, {"m", "w"}, {"m", "v"}, {"m", "k"}, {"h", "f"}, {"h", "m"}, {"e", "k"})
    n_words = sum(len(answer) > 1 for answer in answers)
    return answers <= _SEXES and (n_words >= 2 or any(pair <= answers for pair in pairs))


def _are_amounts(texts: pl.Series) -> bool:
    """Whether texts are numbers with one or two decimals or with a sign of money, whatever stands between thousands."""
    if not len(texts):
        return False
    bare = texts.str.replace(_MONEY, "$1")
    is_amount = bare.str.contains(_AMOUNT)
    has_decimals = bare.str.contains(r"[.,]\d{1,2}$") | (bare != texts)
    return bool((is_amount & has_decimals).all())
