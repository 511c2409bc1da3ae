# SPDX-License-Identifier: Apache-2.0
"""`overt.estimate`: counts, means and cross tables from a release whose values were dealt blind, with what is known of their error.

Everything comes from the published release and public parameters. Who has which value in a bucket is estimated without bias (`overt.metrics.blind_deal`);
where in its box somebody is, is taken to be uniform. The standard error has a part for each. For the second, the people of a
box of usual size are taken to be all on the same side, which is more than if each were for themself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from overt.analysis.published_release import PublishedRelease, open_release
from overt.analysis.query_conditions import Below, Fit, fit_of, in_numbers, values_that_satisfy
from overt.analysis.read_columns import ReadColumn
from overt.errors import InvalidInput
from overt.metrics.blind_deal import Sums
from overt.table import unknown_column

Numbers = NDArray[np.float64]
COLUMNS = ("estimate", "standard_error", "even", "least", "greatest")
TINY = 1e-9


def estimate(
    release: Any, *, where: Mapping[str, Any] | None = None, mean: str | None = None, by: Any = ()
) -> pl.DataFrame:
    """Estimate how many people satisfy some conditions, or the mean of a number; with `by`, for every cell of a cross table.

    Parameters
    ----------
    release
        A release of `BlindBuckets` in any form: the path of its public file, what `open_release` gave, or the `Release`; frames are opened with `open_release`.
    where
        Conditions by column, all of which must hold: a range as a pair `(20, 39)`, where None means no limit; one value; or a list of values. For a
        column that shows labels: labels, a dictionary with the share of each that counts, or a function from a cell's text to a share.
    mean
        A column of numbers, sensitive or not, whose mean is asked for instead of a count.
    by
        The columns of a cross table. A dictionary gives the parts of each: bounds `[30, 50]` of a column of numbers or dates, or
        a list of conditions; None is every value.

    Notes
    -----
    The frame has one row for each cell of the cross table, and these columns:

    - `estimate`: without bias over the coins of the deal; null if the release does not tell values apart.
    - `standard_error`: of the estimate, as far as people are spread evenly inside their boxes.
    - `even`: the answer if values were spread evenly inside buckets: biased towards no relation, by an unknown amount, and often nearer.
    - `least`, `greatest`: between which a count lies for certain; null for means.

    >>> import overt
    >>> people = {"age": [20, 21, 22, 23, 61, 62, 63, 64], "ill": ["flu", "cold", "flu", "cold", "cold", "HIV", "HIV", "cold"]}
    >>> table = overt.read_frame(pl.DataFrame(people), quasi_identifiers=["age"], sensitive=["ill"])
    >>> method = overt.BlindBuckets(goal=overt.FrequencyLDiversity(2), k=2, rows_per_bucket=4, stratify=overt.Halvings(1))
    >>> release = method.anonymize(table, rng=np.random.default_rng(0))
    >>> overt.estimate(release, where={"age": (None, 39), "ill": "flu"}).row(0)
    (2.0, 0.0, 2.0, 2, 2)

    """
    opened = open_release(release)
    where = dict(where or {})
    parts = _parts_of(opened, by)
    _refuse_unknown(opened, [*where, *([mean] if mean is not None else [])])
    if set(parts) & set(COLUMNS):
        raise InvalidInput(f"A column of the cross table is called like a column of the result: {', '.join(COLUMNS)}.")
    question = Question(opened, where, mean)
    sensitive, rows = names_of(opened.sensitive), []
    values = {name: parts[name] for name in parts if name in sensitive}
    for of_people in _cells_of({name: parts[name] for name in parts if name not in sensitive}):
        for of_values, answers in question.answers(of_people, list(_cells_of(values))):
            labels = {name: part[0] for name, part in (dict(of_people) | dict(of_values)).items()}
            rows.append({name: labels[name] for name in parts} | answers)
    schema: dict[str, Any] = {name: _dtype_of(parts[name]) for name in parts}
    schema |= dict.fromkeys(COLUMNS[:3], pl.Float64) | dict.fromkeys(COLUMNS[3:], pl.Int64)
    return pl.DataFrame(rows, schema=schema)


AskedPart = tuple[Any, Any]  # what the cross table shows, and the condition


@dataclass(frozen=True, eq=False)
class AskedRows:
    """Of every row what its box says: how surely it is asked about, and where the number lies whose mean is asked."""

    share: Numbers
    surely: NDArray[np.bool_]
    middle: Numbers
    variance: Numbers

    def apart_from(self, center: float) -> tuple[Numbers, Numbers]:
        """The number less a center, times whether the row is asked about: what is expected, and how much it may vary."""
        apart = self.middle - center
        return self.share * apart, self.share * (self.variance + (1 - self.share) * apart**2)

    @property
    def counted(self) -> tuple[Numbers, Numbers]:
        """The same for whether the row is asked about."""
        return self.share, self.share * (1 - self.share)


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of a release: conditions by column, and the number whose mean is asked for, if not a count."""

    opened: PublishedRelease
    where: Mapping[str, Any]
    mean: str | None

    def answers(
        self, of_people: Mapping[str, AskedPart], of_values: Sequence[Mapping[str, AskedPart]]
    ) -> Iterator[tuple[Mapping[str, AskedPart], dict[str, Any]]]:
        """The answers for some of the people, by what values they have."""
        people = self.people(of_people)
        wanted = np.stack([self.wanted(cell) for cell in of_values])
        if self.mean is None:
            found = self._counts(people, wanted)
        elif self.mean in names_of(self.opened.sensitive):
            found = self._means_of_values(people, wanted, self._numbers(self.mean))
        else:
            found = self._means_of_people(people, wanted)
        for cell, answer in zip(of_values, found, strict=True):
            if self.opened.stratum_of_bucket is None:
                answer |= {"estimate": None, "standard_error": None}
            yield cell, answer

    def _counts(self, people: AskedRows, wanted: NDArray[np.bool_]) -> list[dict[str, Any]]:
        sums = self._sums(*people.counted, wanted.astype(np.float64))
        surely, possibly = (of.astype(np.float64) for of in (people.surely, people.share > 0))
        certain = self.opened.deal.certain_counts(surely, possibly, wanted)
        return [
            _answer(value, error, even, int(least), int(greatest))
            for value, error, even, least, greatest in zip(
                sums.value, np.sqrt(sums.variance), sums.even, *certain, strict=True
            )
        ]

    def _means_of_values(self, people: AskedRows, wanted: NDArray[np.bool_], number: Numbers) -> list[dict[str, Any]]:
        """A mean is a sum by a count. Its error is that of the sum of what each is apart from it, by the count."""
        counts, sums = (self.opened.deal.sums(people.share, of) for of in (wanted.astype(np.float64), wanted * number))
        middle, evenly = _ratio(sums.value, counts.value), _ratio(sums.even, counts.even)
        apart = wanted * (number - np.nan_to_num(middle)[:, None])
        variance = self._sums(*people.counted, apart).variance
        return list(map(_answer, middle, _ratio(np.sqrt(variance), counts.value), evenly))

    def _means_of_people(self, people: AskedRows, wanted: NDArray[np.bool_]) -> list[dict[str, Any]]:
        weights = wanted.astype(np.float64)
        counts, sums = (self.opened.deal.sums(of, weights) for of in (people.share, people.share * people.middle))
        middle, evenly = _ratio(sums.value, counts.value), _ratio(sums.even, counts.even)
        answers = []
        for n, center in enumerate(np.nan_to_num(middle)):
            variance = self._sums(*people.apart_from(center), weights[n : n + 1]).variance
            answers.append(_answer(middle[n], _ratio(np.sqrt(variance), counts.value[n : n + 1])[0], evenly[n]))
        return answers

    def _sums(self, number: Numbers, variance: Numbers, weights: Numbers) -> Sums:
        """Sums with both parts of their variance: the deal's, and that of not knowing where in its box somebody is."""
        deal = self.opened.deal
        sums = deal.sums(number, weights)
        if not variance.any():
            return sums
        box = self.opened.box_of_row
        n_in_box = np.bincount(box)
        alike = np.minimum(n_in_box, 2 * int(n_in_box.min()) - 1)  # as many as a box of usual size has
        of_boxes = []
        for once, squared in zip(deal.shares(weights), deal.shares(weights**2), strict=True):
            alone = np.bincount(box, variance * squared[deal.bucket_of_row])
            of_box = np.bincount(box, variance) * (np.bincount(box, once[deal.bucket_of_row]) / n_in_box) ** 2
            of_boxes.append(float((alone + (alike - 1) * of_box).sum()))
        return Sums(sums.value, sums.variance + np.array(of_boxes), sums.even)

    def people(self, parts: Mapping[str, AskedPart]) -> AskedRows:
        """What boxes say of the rows that satisfy the conditions and are in a part of a cross table."""
        n_rows = self.opened.n_rows
        share, surely, middle, variance = np.ones(n_rows), np.ones(n_rows, np.bool_), np.zeros(n_rows), np.zeros(n_rows)
        for column in self.opened.quasi_identifiers:
            conditions = [self.where.get(column.name), parts.get(column.name, (None, None))[1]]
            fit = fit_of(column, *conditions)
            if conditions != [None, None]:
                surely &= fit.surely(column)[column.cell_of_row]
            share *= fit.share[column.cell_of_row]
            if column.name == self.mean:
                of_cell = _number_in(column, fit)
                middle, variance = (of[column.cell_of_row] for of in of_cell)
        return AskedRows(share, surely, middle, variance)

    def wanted(self, parts: Mapping[str, AskedPart]) -> NDArray[np.bool_]:
        """(combination of values) -> whether it is asked for."""
        wanted = np.ones(self.opened.code_of_value.shape[1], np.bool_)
        for known, codes in zip(self.opened.sensitive, self.opened.code_of_value, strict=True):
            for condition in (self.where.get(known.name), parts.get(known.name, (None, None))[1]):
                wanted &= values_that_satisfy(known.name, known, condition)[codes]
        return wanted

    def _numbers(self, name: str) -> Numbers:
        """(combination of values) -> the number of a sensitive column."""
        place = names_of(self.opened.sensitive).index(name)
        numbers = in_numbers(self.opened.sensitive[place])
        if numbers is None or np.isnan(numbers).any():
            raise InvalidInput(
                f"The mean of {name!r} is asked for; it must be a column of numbers without missing ones."
            )
        return numbers[self.opened.code_of_value[place]]


def names_of(columns: Sequence[Any]) -> list[str]:
    """The names of some columns."""
    return [column.name for column in columns]


def _answer(
    value: float, error: float, even: float, least: int | None = None, greatest: int | None = None
) -> dict[str, Any]:
    is_known = not (np.isnan(value) or np.isnan(error))
    found = (float(value), float(error)) if is_known else (None, None)
    return dict(zip(COLUMNS, (*found, None if np.isnan(even) else float(even), least, greatest), strict=True))


def _ratio(sums: Numbers, counts: Numbers) -> Numbers:
    """Sums by counts; `nan` where nobody is counted."""
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > TINY)


def _number_in(column: ReadColumn, fit: Fit) -> tuple[Numbers, Numbers]:
    """The mean and the variance of a number that is anywhere in the part of each cell that is asked about."""
    if column.scale not in ("whole numbers", "numbers") or any(cell.may_be_missing for cell in column.cells):
        raise InvalidInput(
            f"The mean of {column.name!r} is asked for; it must be a column of numbers without missing ones."
        )
    width = fit.greatest - fit.least
    variance = ((width + column.step) ** 2 - column.step**2) / 12
    return (fit.least + fit.greatest) / 2, variance


def _parts_of(opened: PublishedRelease, by: Any) -> dict[str, list[AskedPart]]:
    """The parts of every column of a cross table."""
    asked = {by: None} if isinstance(by, str) else by if isinstance(by, Mapping) else dict.fromkeys(by)
    _refuse_unknown(opened, asked)
    values = {known.name: known for known in opened.sensitive}
    parts: dict[str, list[AskedPart]] = {}
    for name, how in asked.items():
        column = None if name in values else opened.column(name)
        if column is not None and column.scale != "categories":
            parts[name] = _parts_between(column, how)
        elif how is not None:
            parts[name] = [(_text(condition), condition) for condition in how]
        elif column is None:
            parts[name] = [(value, _is(value)) for value in values[name]]
        else:
            parts[name] = [(member, member) for member in column.members]
    return parts


def _is(value: Any) -> Any:
    return lambda other: other == value


def _parts_between(column: ReadColumn, bounds: Any) -> list[AskedPart]:
    """The parts of a column of numbers or dates: below the first bound, from each to the next, from the last on."""
    if not isinstance(bounds, list | tuple) or not bounds:
        raise InvalidInput(
            f"{column.name!r} has an order: say where its parts begin, as by={{{column.name!r}: [30, 50]}}."
        )
    numbers = [column.parse(bound) for bound in bounds]
    if any(np.isnan(numbers)) or sorted(set(numbers)) != numbers:
        raise InvalidInput(f"The bounds of {column.name!r} must be different values of it, in order.")
    named = [f"below {bounds[0]}"]
    named += [f"{low} to below {high}" for low, high in pairwise(bounds)] + [f"{bounds[-1]} and above"]
    ends = [-np.inf, *numbers, np.inf]
    return [(name, Below(*of)) for name, of in zip(named, pairwise(ends), strict=True)]


def _text(condition: Any) -> str:
    if isinstance(condition, str):
        return condition
    if isinstance(condition, tuple) and len(condition) == 2:
        low, high = condition
        return f"{low} to {high}" if None not in condition else f"up to {high}" if low is None else f"{low} and above"
    listed = condition if isinstance(condition, list | tuple | set | frozenset | dict) else [condition]
    return ", ".join(map(str, listed))


def _cells_of(parts: Mapping[str, Sequence[AskedPart]]) -> Iterator[dict[str, AskedPart]]:
    for cell in product(*parts.values()):
        yield dict(zip(parts, cell, strict=True))


def _dtype_of(parts: Sequence[AskedPart]) -> Any:
    return pl.Series([label for label, _ in parts]).dtype


def _refuse_unknown(opened: PublishedRelease, names: Iterable[str]) -> None:
    known = [*names_of(opened.quasi_identifiers), *names_of(opened.sensitive)]
    for name in names:
        if name not in known:
            raise unknown_column(name, known)
