# SPDX-License-Identifier: Apache-2.0
# Tested through tests/samples/test_census.py
"""What the people of `census` can be: labels in order, and what depends on what.

A nested mapping is at once a list of labels (its leaves, in order) and the hierarchy above them.

Weights need not add up to anything. They are made with + - * / alone, which every machine rounds alike.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

VocabularyTree = Mapping[str, "VocabularyTree | Sequence[str]"]
ValueWeights = NDArray[np.float64]  # (condition, code) -> weight

AGES = np.arange(15, 94)
AGE_BANDS = (18, 22, 25, 30, 40, 50, 60, 70, 80)  # a band ends before each of these
GENDERS = ("female", "male")
EDUCATIONS: VocabularyTree = {
    "Below high school": {
        "Primary": ("No schooling", "Preschool", "Grades 1-4", "Grades 5-6", "Grades 7-8"),
        "Some high school": ("Grade 9", "Grade 10", "Grade 11", "Grade 12"),
    },
    "High school or college": {
        "High school": ("High school diploma",),
        "College": ("Year of college", "Some college", "Associate"),
    },
    "University": {
        "First degree": ("Bachelor",),
        "Higher degree": ("Master", "Professional", "Doctorate"),
    },
}
PREVALENCE_OF_EDUCATION = (2, 2, 3, 4, 6, 5, 6, 6, 5, 27, 12, 16, 10, 20, 9, 3, 2)
TYPICAL_EDUCATION = (6, 10, 11, 12, 12, 12, 11, 11, 9, 8)  # by age band
HIGHEST_EDUCATION = (9, 11, 14, 16, 16, 16, 16, 16, 16, 16)  # nobody has a doctorate at 17

BIRTHPLACES: VocabularyTree = {
    "Americas": {
        "North America": ("United States", "Canada"),
        "Caribbean": ("Cuba", "Dominican Republic", "Haiti", "Jamaica", "Puerto Rico"),
        "Central America": ("Mexico", "El Salvador", "Guatemala", "Honduras", "Panama"),
        "South America": ("Argentina", "Brazil", "Colombia", "Ecuador", "Guyana", "Peru", "Venezuela"),
    },
    "Asia": {
        "East Asia": ("China", "Japan", "South Korea", "Taiwan"),
        "South-East Asia": ("Cambodia", "Laos", "Philippines", "Thailand", "Vietnam"),
        "South Asia": ("Bangladesh", "India", "Pakistan"),
        "West Asia": ("Iran", "Iraq", "Israel", "Lebanon", "Turkey"),
    },
    "Europe": {
        "Northern Europe": ("Ireland", "Sweden", "United Kingdom"),
        "Western Europe": ("France", "Germany", "Netherlands"),
        "Southern Europe": ("Greece", "Italy", "Portugal", "Spain"),
        "Eastern Europe": ("Poland", "Romania", "Russia", "Ukraine"),
    },
    "Africa": ("Egypt", "Ethiopia", "Ghana", "Nigeria", "South Africa"),
    "Oceania": ("Australia", "New Zealand"),
}
FREQUENT_BIRTHPLACES = (  # the most frequent first; all others are about equally rare
    "United States",
    "Mexico",
    "India",
    "China",
    "Philippines",
    "Vietnam",
    "Germany",
    "Cuba",
)


class Occupation(NamedTuple):
    """An occupation, and who usually has it."""

    name: str
    prevalence: int
    education: int  # the usual step of EDUCATIONS
    women: int  # in a hundred
    pay: int  # in steps of INCOMES


JOBS: Mapping[str, tuple[Occupation, ...]] = {
    "Management": (
        Occupation("Chief executive", 1, 14, 30, 34),
        Occupation("Financial manager", 2, 13, 52, 27),
        Occupation("Human resources manager", 1, 13, 66, 23),
        Occupation("Sales manager", 2, 12, 38, 25),
        Occupation("Farm manager", 1, 9, 22, 15),
    ),
    "Engineering and computing": (
        Occupation("Civil engineer", 1, 13, 18, 25),
        Occupation("Electrical engineer", 1, 13, 14, 27),
        Occupation("Software developer", 3, 13, 25, 29),
        Occupation("Network technician", 1, 12, 22, 20),
        Occupation("Draughtsperson", 1, 11, 30, 18),
    ),
    "Professions": (
        Occupation("Chemist", 1, 15, 42, 24),
        Occupation("Biologist", 1, 16, 50, 22),
        Occupation("Lawyer", 3, 15, 44, 33),
        Occupation("Journalist", 1, 13, 50, 17),
        Occupation("Musician", 1, 11, 36, 10),
    ),
    "Education and social work": (
        Occupation("University teacher", 4, 16, 48, 24),
        Occupation("School teacher", 5, 14, 74, 18),
        Occupation("Nursery teacher", 2, 11, 90, 9),
        Occupation("Librarian", 1, 14, 78, 16),
        Occupation("Social worker", 2, 13, 78, 15),
    ),
    "Health": (
        Occupation("Physician", 3, 15, 42, 36),
        Occupation("Pharmacist", 2, 15, 56, 30),
        Occupation("Registered nurse", 4, 12, 86, 22),
        Occupation("Laboratory technician", 1, 12, 70, 17),
        Occupation("Care assistant", 4, 8, 84, 8),
    ),
    "Office": (
        Occupation("Bookkeeper", 3, 11, 80, 14),
        Occupation("Secretary", 4, 10, 90, 13),
        Occupation("Bank clerk", 2, 10, 76, 12),
        Occupation("Postal worker", 1, 9, 46, 17),
        Occupation("Receptionist", 2, 9, 88, 9),
    ),
    "Sales": (
        Occupation("Insurance agent", 1, 12, 48, 19),
        Occupation("Estate agent", 1, 11, 54, 20),
        Occupation("Sales representative", 3, 11, 34, 21),
        Occupation("Shop assistant", 5, 8, 60, 7),
        Occupation("Cashier", 4, 7, 72, 5),
    ),
    "Service": (
        Occupation("Police officer", 2, 11, 18, 22),
        Occupation("Hairdresser", 2, 9, 84, 8),
        Occupation("Cook", 4, 6, 42, 6),
        Occupation("Waiter", 3, 8, 66, 5),
        Occupation("Cleaner", 4, 4, 58, 6),
    ),
    "Crafts and production": (
        Occupation("Electrician", 2, 9, 4, 20),
        Occupation("Carpenter", 2, 8, 4, 15),
        Occupation("Car mechanic", 2, 8, 4, 15),
        Occupation("Machinist", 2, 8, 10, 16),
        Occupation("Sewing machine operator", 1, 4, 74, 7),
    ),
    "Transport and land": (
        Occupation("Lorry driver", 4, 8, 8, 16),
        Occupation("Bus driver", 1, 9, 46, 12),
        Occupation("Warehouse worker", 3, 7, 24, 11),
        Occupation("Construction labourer", 3, 5, 6, 12),
        Occupation("Farm worker", 2, 3, 24, 5),
    ),
}
OCCUPATIONS: VocabularyTree = {group: tuple(job.name for job in jobs) for group, jobs in JOBS.items()}
INCOMES = np.arange(2_000, 102_000, 2_000)  # a year, the highest stands for everything above it
PAY_BY_AGE_BAND = (-9, -5, -2, 0, 2, 4, 5, 3, 0, -2)

MARITAL_STATUSES = (
    "Never married",
    "Married",
    "Married and living apart",
    "Registered partnership",
    "Separated",
    "Divorced",
    "Widowed",
)
MARITAL_STATUS_BY_AGE_BAND = (
    (970, 12, 3, 10, 2, 2, 1),
    (880, 70, 12, 26, 6, 5, 1),
    (730, 190, 18, 32, 12, 16, 2),
    (480, 400, 20, 36, 20, 40, 4),
    (260, 550, 22, 34, 34, 92, 8),
    (170, 590, 20, 28, 38, 140, 14),
    (110, 620, 18, 20, 34, 170, 28),
    (80, 620, 16, 14, 26, 150, 94),
    (60, 550, 14, 8, 14, 104, 250),
    (50, 370, 12, 4, 8, 66, 490),
)
RACES = ("White", "Black", "Asian", "American Indian", "Pacific Islander", "Two or more", "Other")
RACE_BY_BIRTHPLACE = {
    "Americas": (700, 130, 30, 20, 6, 60, 54),
    "Asia": (60, 6, 880, 2, 10, 30, 12),
    "Europe": (930, 20, 16, 2, 2, 20, 10),
    "Africa": (110, 820, 26, 2, 2, 30, 10),
    "Oceania": (640, 8, 60, 2, 230, 50, 10),
}
WORK_CLASSES = (
    "Private",
    "Charity",
    "Federal government",
    "State government",
    "Local government",
    "Self-employed",
    "Own company",
    "Unpaid in family business",
)
WORK_CLASS_BY_OCCUPATION = {
    "Management": (62, 6, 4, 4, 5, 8, 10, 1),
    "Engineering and computing": (76, 2, 8, 4, 3, 4, 3, 0),
    "Professions": (44, 10, 8, 9, 5, 17, 6, 1),
    "Education and social work": (19, 17, 2, 22, 37, 2, 1, 0),
    "Health": (58, 21, 3, 6, 6, 3, 3, 0),
    "Office": (66, 8, 9, 5, 7, 2, 2, 1),
    "Sales": (74, 2, 1, 1, 1, 13, 6, 2),
    "Service": (64, 4, 3, 4, 14, 8, 2, 1),
    "Crafts and production": (73, 1, 2, 2, 3, 14, 4, 1),
    "Transport and land": (70, 1, 2, 2, 6, 13, 3, 3),
}
HOURS = np.arange(1, 100)  # a week
USUAL_HOURS_BY_AGE_BAND = (16, 28, 37, 40, 42, 42, 41, 32, 22, 16)
REGIONS = (  # the largest first
    "CA TX FL NY PA IL OH GA NC MI NJ VA WA AZ TN MA IN MO MD WI CO MN SC AL LA KY OR OK CT UT IA NV AR KS MS NM NE ID"
    " WV HI NH ME MT RI DE SD ND AK DC VT WY"
)

N_AGE_BANDS = len(AGE_BANDS) + 1
N_EDUCATIONS = len(PREVALENCE_OF_EDUCATION)


def leaves(tree: VocabularyTree | Sequence[str]) -> Iterator[str]:
    """The labels at the ends of a nested mapping, in order."""
    if isinstance(tree, Mapping):
        for branch in tree.values():
            yield from leaves(branch)
    else:
        yield from tree


@cache
def values() -> dict[str, NDArray[np.int64] | tuple[str, ...]]:
    """What a code stands for, by column: numbers or labels."""
    return {
        "Age": AGES,
        "Gender": GENDERS,
        "Education": tuple(leaves(EDUCATIONS)),
        "Birthplace": tuple(leaves(BIRTHPLACES)),
        "Occupation": tuple(leaves(OCCUPATIONS)),
        "Income": INCOMES,
        "Marital status": MARITAL_STATUSES,
        "Race": RACES,
        "Work class": WORK_CLASSES,
        "Hours": HOURS,
        "Region": tuple(REGIONS.split()),
    }


@cache
def band_of_age() -> NDArray[np.int64]:
    """(age code) -> age band."""
    return np.searchsorted(AGE_BANDS, AGES, side="right")


@cache
def branch_of_birthplace() -> NDArray[np.int64]:
    """(birthplace code) -> continent."""
    return np.repeat(np.arange(len(BIRTHPLACES)), [len(list(leaves(branch))) for branch in BIRTHPLACES.values()])


@cache
def branch_of_occupation() -> NDArray[np.int64]:
    """(occupation code) -> group of occupations."""
    return np.repeat(np.arange(len(JOBS)), [len(jobs) for jobs in JOBS.values()])


@cache
def all_jobs() -> tuple[Occupation, ...]:
    """The jobs by occupation code."""
    return tuple(job for jobs in JOBS.values() for job in jobs)


@cache
def usual_pay() -> NDArray[np.int64]:
    """(age band, education, occupation) -> steps of income, before luck."""
    of_band = np.array(PAY_BY_AGE_BAND)[:, None, None]
    of_education = (np.arange(N_EDUCATIONS) // 3)[None, :, None]
    of_job: NDArray[np.int64] = np.array([job.pay for job in all_jobs()])
    return of_band + of_education + of_job


@cache
def luck() -> NDArray[np.int64]:
    """(ticket of 4096) -> steps of income: mostly near 0, seldom far above it, more seldom far below."""
    side = (np.arange(4096) + 0.5) / 2048 - 1  # -1 to 1
    return np.rint(side * np.where(side > 0, 9, 7) / (1 - 0.7 * side * side)).astype(np.int64)


def weights() -> dict[str, ValueWeights]:
    """By choice, (condition, code) -> weight."""
    return {
        "Age": weights_of_age(),
        "Gender": weights_of_gender(),
        "Education": weights_of_education(),
        "Birthplace": weights_of_birthplace(),
        "Occupation": weights_of_occupation(),
        "Marital status": np.array(MARITAL_STATUS_BY_AGE_BAND, np.float64),
        "Race": np.array(tuple(RACE_BY_BIRTHPLACE.values()), np.float64),
        "Work class": np.array(tuple(WORK_CLASS_BY_OCCUPATION.values()), np.float64),
        "Hours": near(HOURS, np.array(USUAL_HOURS_BY_AGE_BAND)[:, None], spread=4),
        "Region": 1 / (6.0 + np.arange(len(REGIONS.split())))[None, :],
    }


def near(value: NDArray[np.int64], usual: NDArray[np.int64], *, spread: float) -> ValueWeights:
    """A bell with heavy tails: 1 at the usual value, a half at `spread` from it."""
    distance = (value - usual) / spread
    return 1 / (1 + distance * distance)


def weights_of_age() -> ValueWeights:
    """About even up to 55, then fewer every year."""
    return np.where(AGES < 55, 70.0, 70 - 1.7 * (AGES - 55))[None, :]


def weights_of_gender() -> ValueWeights:
    """By age: about even up to 60, then more women every year."""
    women = np.where(AGES < 60, 50.0, 50 + 0.5 * (AGES - 60))
    return np.stack([women, 100 - women], axis=1)


def weights_of_education() -> ValueWeights:
    """By age band: around a typical step, and none above what can be reached by then."""
    steps = np.arange(N_EDUCATIONS)
    possible = steps <= np.array(HIGHEST_EDUCATION)[:, None]
    prevalence = np.array(PREVALENCE_OF_EDUCATION, np.float64)
    return possible * prevalence * near(steps, np.array(TYPICAL_EDUCATION)[:, None], spread=4)


def weights_of_birthplace() -> ValueWeights:
    """A few places have most people."""
    of_place = dict.fromkeys(leaves(BIRTHPLACES), 0.12)
    of_place |= {place: 3 / (1 + rank) for rank, place in enumerate(FREQUENT_BIRTHPLACES)}
    of_place[FREQUENT_BIRTHPLACES[0]] = 20
    return np.array([list(of_place.values())])


def weights_of_occupation() -> ValueWeights:
    """By age band, education and gender; the young more often have jobs that pay little."""
    jobs = all_jobs()
    pay, women = np.array([job.pay for job in jobs]), np.array([job.women for job in jobs])
    of_education = near(np.arange(N_EDUCATIONS)[:, None], np.array([job.education for job in jobs]), spread=2)
    of_gender = np.stack([women, 100 - women]) * np.array([job.prevalence for job in jobs])
    junior = np.array([12, 6, 3, 1] + [0] * (N_AGE_BANDS - 4))[:, None]
    of_band = 1 / (1 + junior * pay * pay / 400)
    weights: ValueWeights = of_band[:, None, None, :] * of_education[None, :, None, :] * of_gender[None, None, :, :]
    return weights.reshape(-1, len(jobs))  # a condition is (band * N_EDUCATIONS + education) * 2 + gender
