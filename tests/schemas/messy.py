# SPDX-License-Identifier: Apache-2.0
"""Exports as they come: abbreviated and odd headers, titles before names, signs of money, written by somebody who tried the rules as a new user."""

from schemas.cells import Cells, Schema, amount, day, often_missing, one_of, pattern, rising, some, whole

_NAMES = (
    "Müller",
    "Schmidt",
    "Schäfer",
    "Weber",
    "Klein",
    "Groß",
    "Krüger",
    "Böhm",
    "Vogel",
    "Jäger",
    "Köhler",
    "Huber",
)
_FULL = tuple(f"{first} {last}" for first in ("Anna", "Peter", "Jürgen", "Käthe", "Laura") for last in _NAMES)


def with_title(*titles: str) -> Cells:
    return one_of(*(f"{title} {name}" for title in titles for name in _NAMES))


def money(before: str = "", after: str = "", point: str = ".", comma: str = ",") -> Cells:
    """Amounts with a sign of money and marks between thousands."""

    def cells(drawing):  # type: ignore[no-untyped-def]
        drawn = drawing.rng.lognormal(8.5, 1.0, drawing.n_rows)
        swap = str.maketrans({",": comma, ".": point})
        return [f"{before}{x:,.2f}".translate(swap) + after for x in drawn]

    return cells


MESSY = (
    Schema("klinik-export", "de_DE", (
        ("Fall-Nr.", "I", rising(20_230_000)),
        ("Pat.-Name", "I", one_of(*(f"{full.split()[1]}, {full.split()[0]}" for full in _FULL))),
        ("Geb.-Datum", "Q", often_missing(day("%d.%m.%Y", 1925, 2020), 0.04, "unbek.")),
        ("Geschl.", "Q", one_of("m", "w", "d", shares=(0.49, 0.5, 0.01))),
        ("PLZ", "Q", one_of("53111", "53113", "53115", "01067", "01069")),
        ("Straße", "I", some("street_address", 300)),
        ("Aufn.-Datum", "Q", day("%d.%m.%y", 2023, 2023)),
        ("VWD", "Q", whole(1, 39)),
        ("HD (ICD)", "S", one_of("I10.90", "E11.90", "J45.0", "F32.1", "C50.4", "B24", "O80")),
        ("ND1", "S", often_missing(one_of("I10.90", "E11.90", "N18.5"), 0.5)),
        ("Station", "Q", one_of("Innere 1", "Chirurgie", "Gyn", "Onko")),
        ("Einweiser", "I", with_title("Dr.", "Prof. Dr.")),
        ("Kassen-IK", "QO", one_of("104212059", "109905003", "108416214", "101575519")),
        ("Größe (cm)", "Q", whole(150, 199)),
        ("Gewicht (kg)", "S", amount(75, 0.2, 1, comma=True)),
        ("Erlös (€)", "S", money(point=",", comma=".")),
        ("Bem.", "I", often_missing(one_of("Pat. ruft zurück", "Angehörige sind informiert", "n.k."), 0.6)),
    )),
    Schema("enquête", "fr_FR", (
        ("identifiant", "I", rising(1)),
        ("Êtes-vous ?", "Q", one_of("Un homme", "Une femme")),
        ("Votre année de naissance", "Q", whole(1935, 2005)),
        ("Dans quelle commune habitez-vous ?", "Q", one_of("Lyon", "Villeurbanne", "Bron", "Vénissieux")),
        ("Situation familiale", "Q", one_of("Marié(e)", "Célibataire", "Divorcé(e)", "Veuf(ve)")),
        ("Revenu mensuel net du foyer", "S", one_of("< 1000 €", "1000 - 2000 €", "> 2000 €", "NSP")),
        ("Pour qui avez-vous voté ?", "S", one_of("Blanc", "A", "B", "C", "Ne souhaite pas répondre")),
        ("Êtes-vous fumeur ?", "S", one_of("Oui", "Non", shares=(0.2, 0.8))),
        ("Adresse mail (facultatif)", "I", often_missing(some("email", 300), 0.6)),
        ("Remarques", "I", often_missing(one_of("Rien à signaler", "Bonne enquête mais trop longue"), 0.5)),
        ("Note de satisfaction (0-10)", "QS", whole(0, 10)),
        ("pondération", "O", amount(1.1, 0.3, 3)),
    )),
    Schema("invoices", "en_US", (
        ("InvoiceNo", "I", pattern("INV-######")),
        ("CustomerNo", "I", pattern("C#####", 300)),
        ("Bill To", "I", one_of(*_FULL)),
        ("Account", "I", pattern("DE####################")),
        ("Amount", "S", money(after=" €")),
        ("VAT", "QO", one_of("7%", "19%")),
        ("Due", "Q", day("%m/%d/%Y", 2023, 2023)),
        ("Paid?", "S", one_of("Y", "N")),
        ("Dunning level", "S", one_of("0", "1", "2", "3", shares=(0.9, 0.06, 0.03, 0.01))),
        ("Product", "Q", one_of("DSL 50", "DSL 100", "Mobile S")),
        ("City", "Q", one_of("Bonn", "Köln", "Aachen")),
        ("Sales rep", "I", one_of("Anna", "Peter", "Julia", "Laura", "Paul", "Sofia")),
    )),
    Schema("pupils", "en_GB", (
        ("UPN", "I", pattern("?############")),
        ("Pupil", "I", one_of(*_FULL)),
        ("Parent 1", "I", with_title("Mrs", "Mr", "Ms")),
        ("Parent/carer 2", "I", often_missing(with_title("Mr"), 0.5)),
        ("DOB", "Q", day("%d/%m/%Y", 2006, 2012)),
        ("Yr", "Q", whole(7, 11)),
        ("Form", "Q", one_of("7A", "7B", "8A", "9C", "10B")),
        ("Ethnicity", "QS", one_of("WBRI", "BCRB", "APKN", "MWAS")),
        ("FSM", "S", one_of("Y", "N")),
        ("SEN", "S", one_of("N", "K", "E", shares=(0.85, 0.12, 0.03))),
        ("EAL", "QS", one_of("Y", "N")),
        ("Attendance %", "S", amount(90, 0.05, 1)),
        ("KS2 Maths", "S", whole(80, 120)),
        ("Exclusions", "S", one_of("0", "1", "2", shares=(0.95, 0.04, 0.01))),
        ("Home tel", "I", pattern("0##########")),
        ("Social worker", "I", often_missing(one_of("J. Smith", "P. Khan"), 0.8)),
        ("Medical", "S", often_missing(one_of("asthma", "epilepsy", "nut allergy"), 0.7)),
    )),
    Schema("bike trips", "en_US", (
        ("device_id", "I", pattern("a###f###e###")),
        ("start_time", "Q", day("%Y-%m-%d 08:%M:%S", 2023, 2023)),
        ("start_lat", "I", amount(50.7, 0.001, 5)),
        ("end_station_name", "Q", one_of("Bertha-von-Suttner-Platz", "Hauptbahnhof", "Rheinaue", "Poppelsdorf")),
        ("rider_birth_year", "Q", whole(1940, 2007)),
        ("rider gender", "Q", one_of("0", "1", "2")),
        ("member_casual", "Q", one_of("member", "casual")),
        ("fare", "S", amount(6, 0.5, 2)),
    )),
    Schema("tax returns", "en_US", (
        ("tin", "I", pattern("###-##-####")),
        ("fname_mi", "I", one_of("Anna B", "Peter C", "Laura D", "Paul E", "Julia F", "Thomas G")),
        ("lname", "I", one_of(*_NAMES)),
        ("filing_stat", "Q", one_of("S", "MFJ", "MFS", "HOH")),
        ("agi", "S", money(before="$")),
        ("n_dep", "Q", whole(0, 4)),
        ("zip9", "IQ", pattern("100##-####")),
        ("refund", "S", whole(-3_000, 5_000)),
        ("audit_flag", "S", one_of("Y", "N", shares=(0.02, 0.98))),
        ("preparer", "I", with_title("CPA", "Mr", "Ms")),
    )),
)  # fmt: skip
