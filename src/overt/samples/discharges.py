# SPDX-License-Identifier: Apache-2.0
"""Hospital discharges as a hospital would export them, with everything that is wrong with such files. Every person is invented.

A row is a stay. One patient in eight has several. Dates are written in two ways, some codes end in blanks, some cells are missing, one
charge is no number. 300 diagnoses are skewed: a few are frequent, most are rare. HIV is positive for 2 % of the stays. Every draw is made in
integers from the raw bits of the seed, so the same seed gives the same rows on every machine.
"""

from datetime import date, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.errors import InvalidInput

COLUMNS = (
    *("Patient ID", "Last name", "First name", "Birth date", "Sex", "ZIP", "Phone", "Admitted", "Discharged", "Ward"),
    *("Attending", "Diagnosis", "HIV", "Mental health flag", "Charge", "Remarks"),
)
PATIENTS_IN_EIGHTHS = 7  # of the rows: 17,500 patients of 20,000 rows
N_DIAGNOSES = 300
_FIRST_NAMES = """
Adem Agnes Albert Amara Anna Anton Arne Bianca Bruno Carla Clara Dalia Dario David Elena Emil Enzo Erik Esther Eva
Felix Freya Georg Greta Gustav Hakim Hana Hannah Helene Hugo Ida Ines Irene Ivana Jakob Jana Johann Jonas Jorge Julia
Karl Karin Klaus Lara Laura Leila Lena Leon Livia Lucas Magnus Maja Mara Marek Maria Martin Milan Mina Nadia Niklas
Nora Olga Oskar Paul Paula Pavel Peter Rafael Ravi Rosa Sabine Salma Samuel Sara Selma Simon Sofia Stefan Tamar Thomas
Tobias Tomas Vera Walter Yusuf Zoe
"""
_FIRST = tuple(_FIRST_NAMES.split())
_LAST_NAMES = """
Abel Adler Aksoy Albers Amadi Arnold Bach Bauer Becker Berger Bergmann Blum Braun Brandt Busch Castro Celik Conti Dahl
Demir Diaz Ebert Egger Eklund Engel Farrow Fiedler Fischer Fontaine Frank Fuchs Gallo Graf Gross Haas Hadley Hahn
Hansen Hartmann Heinz Herrmann Hoffmann Horn Horvat Huber Ibarra Jansen Jelinek Jung Kaiser Kaya Keller Klein Koch
Kowalski Kraus Kuhn Lang Larkin Lehmann Lind Lorenz Ludwig Maier Marsh Martin Mayer Mehta Meyer Molnar Moreau Mueller
Nagy Neumann Nilsen Novak Okoro Ortiz Otto Palmer Peters Petit Pohl Rahimi Reyes Richter Riedel Rossi Roth Sand Sauer
Schmidt Schneider Scholz Schulz Schwarz Seidel Simon Sommer Sousa Stein Stone Thomas Toth Varga Vogel Voigt Vogt
Wagner Walter Weber Weiss Werner Winkler Winter Wolf York Yilmaz Ziegler Zimmermann
"""
_LAST = tuple(_LAST_NAMES.split())
_WARDS = (
    "Cardiology",
    "General medicine",
    "Maternity",
    "Neurology",
    "Oncology",
    "Orthopedics",
    "Psychiatry",
    "Surgery",
)
_LETTERS = "CDEFGHIJKLMNOQRSZ"
_REMARKS = (
    "patient was discharged in good condition and will come back for a control",
    "relatives were informed by telephone and agreed with the transfer home",
    "the wound heals well, stitches to be taken out by the family doctor",
    "refused the second examination and left one day earlier than planned",
)


def discharges(n_rows: int = 20_000, *, seed: int = 0) -> pl.DataFrame:
    """Stays in a hospital, every cell a text as in the file of an export: names, mixed dates, skewed diagnoses, missing cells.

    >>> stays = discharges()
    >>> stays.height, stays["Patient ID"].n_unique(), stays["Diagnosis"].str.strip_chars().n_unique()
    (20000, 17500, 300)
    """
    if n_rows < 0 or seed < 0:
        raise InvalidInput(f"n_rows is {n_rows} and seed is {seed}; neither can be negative.")
    draw = _Draw(n_rows, seed)
    n_patients = max(1, n_rows * PATIENTS_IN_EIGHTHS // 8)
    patient_of_row = np.where(np.arange(n_rows) < n_patients, np.arange(n_rows), draw.below(n_patients))
    of_patient = _people(_Draw(n_patients, seed + 1_000_003))
    admitted = draw.below(730)
    stay = 1 + draw.below(5) * draw.below(6)
    diagnosis = _diagnosis(draw)
    columns = {name: [cells[p] for p in patient_of_row.tolist()] for name, cells in of_patient.items()}
    columns["Admitted"] = _days(admitted, date(2022, 1, 1), "%d.%m.%Y")
    columns["Discharged"] = _days(admitted + stay, date(2022, 1, 1), "%d.%m.%Y")
    columns["Ward"] = _some(_WARDS, draw.below(len(_WARDS)))
    columns["Attending"] = [f"Dr. {_FIRST[d * 3]} {_LAST[d * 4]}" for d in draw.below(24).tolist()]
    blanks = draw.below(20)
    columns["Diagnosis"] = [code + " " * (blank == 0) for code, blank in zip(diagnosis, blanks.tolist(), strict=True)]
    columns["HIV"] = _some(("yes", "no", ""), np.searchsorted([20, 960], draw.below(1000), side="right"))
    columns["Mental health flag"] = _some(("Y", "N"), np.minimum(draw.below(12), 1))
    charges = 180_00 + stay * 410_00 + draw.below(90_000) + draw.below(300) ** 2
    columns["Charge"] = [f"{cents // 100}.{cents % 100:02}" for cents in charges.tolist()]
    if n_rows > 17:
        columns["Charge"][17] = "see file"
    columns["Remarks"] = _some((*_REMARKS, *[""] * 12), draw.below(16))
    columns["Remarks"] = [text and f"{text} (stay {row + 1})" for row, text in enumerate(columns["Remarks"])]
    order = np.argsort(draw.below(1 << 40), kind="stable")  # patients with several stays stand anywhere
    return pl.DataFrame({name: pl.Series(columns[name], dtype=pl.String) for name in COLUMNS})[order]


class _Draw:
    """Whole numbers from the raw bits of a seed, one for every row."""

    def __init__(self, n: int, seed: int) -> None:
        self.n, self._bits = n, np.random.PCG64(seed)

    def below(self, limit: int) -> NDArray[np.int64]:
        return (self._bits.random_raw(self.n) % np.uint64(limit)).astype(np.int64)


def _people(draw: _Draw) -> dict[str, list[str]]:
    """What does not change from stay to stay."""
    age = (draw.below(45) + draw.below(45) + draw.below(6)) * 365 + draw.below(365)
    born = [(date(2021, 12, 31) - timedelta(days=days)) for days in age.tolist()]
    is_iso = draw.below(10) == 0
    zips = 53100 + np.minimum(draw.below(40), draw.below(60))
    gone = draw.below(25)
    return {
        "Patient ID": [f"P{100_000 + number}" for number in range(draw.n)],
        "Last name": _some(_LAST, np.minimum(draw.below(len(_LAST)), draw.below(len(_LAST)))),
        "First name": _some(_FIRST, draw.below(len(_FIRST))),
        "Birth date": [
            day.isoformat() if iso else day.strftime("%d.%m.%Y") for day, iso in zip(born, is_iso, strict=True)
        ],
        "Sex": _some(("f", "m", ""), np.minimum(draw.below(64) // 31, 2)),
        "ZIP": ["" if missing == 0 else str(code) for code, missing in zip(zips.tolist(), gone.tolist(), strict=True)],
        "Phone": [f"0228 {number}" for number in (200_000 + draw.below(700_000)).tolist()],
    }


def _diagnosis(draw: _Draw) -> list[str]:
    """Codes of the shape of ICD-10, the frequent ones many times as frequent as the rare ones."""
    codes = [f"{_LETTERS[n % len(_LETTERS)]}{(n * 7) % 90 + 10}.{n % 10}" for n in range(N_DIAGNOSES)]
    chosen = draw.below(N_DIAGNOSES) * draw.below(N_DIAGNOSES) * draw.below(N_DIAGNOSES) // N_DIAGNOSES**2
    chosen[: min(N_DIAGNOSES, draw.n)] = np.arange(min(N_DIAGNOSES, draw.n))  # each occurs
    return [codes[n] for n in chosen.tolist()]


def _some(values: tuple[str, ...], places: NDArray[np.int64]) -> list[str]:
    return [values[place] for place in places.tolist()]


def _days(days: NDArray[np.int64], first: date, form: str) -> list[str]:
    return [(first + timedelta(days=n)).strftime(form) for n in days.tolist()]
