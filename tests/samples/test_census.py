# SPDX-License-Identifier: Apache-2.0
"""The generated census has the shape, the skew and the dependencies that it promises."""

import io

import numpy as np
import polars as pl
import pytest

from overt.errors import InvalidInput
from overt.samples import census, census_hierarchies, vocabulary, wide_census
from overt.table import Kind

N_VALUES = {"Age": 79, "Gender": 2, "Education": 17, "Birthplace": 57, "Occupation": 50, "Income": 50}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return wide_census(200_000)


def share(people: pl.DataFrame, condition: pl.Expr) -> float:
    return people.select(condition.mean()).item()


def steps(series: pl.Series) -> np.ndarray:
    return series.to_physical().to_numpy().astype(np.float64)


def test_has_the_columns_and_numbers_of_values_of_the_papers(people):
    table = census(200_000)
    assert table.shape == (200_000, 6)
    assert {name: table[name].n_unique() for name in table.columns} == N_VALUES


def test_all_values_are_already_there_in_sixty_thousand_rows():
    table = census(60_000, seed=3)
    assert {name: table[name].n_unique() for name in table.columns} == N_VALUES


@pytest.mark.parametrize("n_rows", [0, 1, 2, 1_000])
def test_has_as_many_rows_as_asked_for(n_rows):
    assert census(n_rows).shape == (n_rows, 6)
    assert wide_census(n_rows).shape == (n_rows, 12)


@pytest.mark.parametrize("column", ["Occupation", "Income"])
@pytest.mark.parametrize("n_rows, seed", [(1_000, 1), (10_000, 2), (200_000, 0)])
def test_ten_diversity_can_be_asked_for(column, n_rows, seed):
    # The greatest expected share is 0.055: at a thousand rows 0.1 is six standard deviations away.
    most = census(n_rows, seed=seed)[column].value_counts()["count"].max()
    assert 10 * most <= n_rows


def test_the_same_seed_gives_the_same_bytes():
    assert census(5_000, seed=7).write_csv() == census(5_000, seed=7).write_csv()
    assert not census(5_000, seed=7).equals(census(5_000, seed=8))


def test_every_row_is_what_its_tickets_say():
    # One person at a time, in integers of Python, from the bit stream and the weights alone.
    def draw(choice: int, name: str, condition: int = 0) -> int:
        weights = vocabulary.weights()[name][condition]
        whole = [round(weight * 1e6 / max(weights)) for weight in weights.tolist()]
        ticket = words[choice // 4] >> 16 * (choice % 4) & 4095
        return next(code for code in range(len(whole)) if ticket < sum(whole[: code + 1]) * 4096 // sum(whole))

    stream = np.random.PCG64(11).random_raw(3 * 40).tolist()
    table = census(40, seed=11)
    for row in range(40):
        words = stream[3 * row : 3 * row + 3]
        age = draw(0, "Age")
        band = sum(15 + age >= limit for limit in vocabulary.AGE_BANDS)
        gender, education = draw(1, "Gender", age), draw(2, "Education", band)
        occupation = draw(4, "Occupation", (band * 17 + education) * 2 + gender)
        codes = {"Age": age, "Gender": gender, "Education": education, "Birthplace": draw(3, "Birthplace")}
        expected = {name: vocabulary.values()[name][code] for name, code in codes.items()}
        assert table.row(row, named=True).items() >= expected.items()
        assert table["Occupation"][row] == vocabulary.values()["Occupation"][occupation]


@pytest.mark.parametrize("n_rows", [1, 999, 65_536, 65_537])
def test_a_shorter_table_is_the_beginning_of_a_longer_one(n_rows):
    assert census(n_rows, seed=5).equals(census(70_000, seed=5).head(n_rows))


def test_the_wide_table_has_the_same_people(people):
    assert people.select(list(N_VALUES)).equals(census(200_000))


def test_the_identifier_is_unique_and_not_in_order(people):
    assert people["Id"].n_unique() == people.height
    assert not people["Id"].is_sorted()


def test_reading_the_csv_gives_the_same_values(people):
    head = people.head(2_000)
    again = pl.read_csv(io.StringIO(head.write_csv()), schema=head.schema)
    assert again.equals(head)


def test_a_row_of_the_wide_table_has_about_ninety_bytes(people):
    assert 80 <= len(people.head(20_000).write_csv()) / 20_000 <= 105


def test_education_comes_in_order_and_grows_with_age_in_the_young(people):
    assert people["Education"].dtype.categories[0] == "No schooling"
    assert people["Education"].dtype.categories[-1] == "Doctorate"
    young = people.filter(pl.col("Age") < 30)
    assert np.corrcoef(steps(young["Age"]), steps(young["Education"]))[0, 1] > 0.3
    assert steps(people.filter(pl.col("Age") < 18)["Education"]).max() == 9  # a high school diploma
    old = people.filter(pl.col("Age") >= 70)
    middle = people.filter(pl.col("Age").is_between(30, 50))
    assert steps(old["Education"]).mean() < steps(middle["Education"]).mean()


def test_income_grows_with_education_and_is_highest_in_the_fifties(people):
    assert np.corrcoef(steps(people["Education"]), steps(people["Income"]))[0, 1] > 0.3
    mean_income = {
        band: people.filter(pl.col("Age").is_between(*band))["Income"].mean() for band in [(15, 21), (50, 59), (80, 93)]
    }
    assert mean_income[15, 21] < mean_income[80, 93] < mean_income[50, 59]


def test_income_depends_on_occupation(people):
    mean_income = dict(people.group_by("Occupation").agg(pl.col("Income").mean()).iter_rows())
    assert mean_income["Physician"] > mean_income["School teacher"] > mean_income["Cashier"]


def test_occupation_depends_on_education_gender_and_age(people):
    lawyer, waiter, nurse = (pl.col("Occupation") == name for name in ("Lawyer", "Waiter", "Registered nurse"))
    doctorate, young = pl.col("Education") == "Doctorate", pl.col("Age") < 22
    woman = pl.col("Gender") == "female"
    assert share(people.filter(doctorate), lawyer) > 3 * share(people.filter(~doctorate), lawyer)
    assert share(people.filter(young), waiter) > 1.5 * share(people.filter(~young), waiter)
    assert share(people.filter(woman), nurse) > 3 * share(people.filter(~woman), nurse)


def test_birthplace_is_skewed(people):
    shares = people["Birthplace"].value_counts(normalize=True, sort=True)
    assert shares["Birthplace"][0] == "United States"
    assert 0.5 < shares["proportion"][0] < 0.8
    assert shares["proportion"][-1] < 0.01


def test_genders_are_about_even_and_women_live_longer(people):
    woman = pl.col("Gender") == "female"
    assert 0.48 < share(people, woman) < 0.55
    assert share(people.filter(pl.col("Age") >= 80), woman) > share(people.filter(pl.col("Age") < 60), woman) + 0.05


def test_the_columns_of_the_wide_table_depend_on_the_others(people):
    widowed, married = pl.col("Marital status") == "Widowed", pl.col("Marital status") == "Married"
    assert share(people.filter(pl.col("Age") >= 80), widowed) > 0.4
    assert share(people.filter(pl.col("Age") < 18), married) < 0.03
    teachers = people.filter(pl.col("Occupation") == "School teacher")
    assert share(teachers, pl.col("Work class") == "Local government") > 0.3
    assert people.filter(pl.col("Age") < 18)["Hours"].median() < people.filter(pl.col("Age") == 40)["Hours"].median()


@pytest.mark.parametrize("n_rows, seed", [(-1, 0), (1, -1)])
def test_refuses_negative_numbers(n_rows, seed):
    with pytest.raises(InvalidInput, match="neither can be negative"):
        census(n_rows, seed=seed)


@pytest.mark.parametrize("n_rows", [50, 60_000])
def test_the_hierarchies_cover_the_columns_and_keep_their_order(n_rows):
    table = wide_census(n_rows, seed=4)
    for name, builder in census_hierarchies().items():
        values, kind = table[name].unique().sort(), Kind.CATEGORY
        if values.dtype == pl.Int64:
            kind = Kind.NUMBER
        values = values if kind is Kind.NUMBER else values.cast(pl.String).sort()
        hierarchy = builder.build(values, kind)
        assert hierarchy.n_levels >= 3
        in_order = table[name].unique().sort().cast(values.dtype)  # an Enum sorts by the order of the vocabulary
        assert hierarchy.leaves.to_list() == in_order.to_list()
