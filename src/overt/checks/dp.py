# SPDX-License-Identifier: Apache-2.0
"""Check of a differentially private release: what can be seen of it in a file, and whether its parameters give what they claim.

A file cannot show that it was drawn as it should; that is what the proof is for. What can be seen is that nothing is in it that
the mechanism could not have released, and that the parameters are enough. The data is not looked at: what is said of a
differentially private release must not depend on it. The figures are computed anew from the definition, cell size by cell size.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import polars as pl

from overt.checks.verdict import Finding, Verdict, counted

_ROUNDING = 1e-9  # what floats may be wrong by here, relatively; verdicts are that much stricter
_NEGLIGIBLE = 1e-280


@dataclass(frozen=True, kw_only=True)
class DpClaim:
    """What a differentially private release says of itself."""

    epsilon: float
    delta: float
    s: float
    k: int  # copies that everything has at least
    sampling_epsilon: float
    coins: str | None  # "secret" or "seeded"; None: nothing says
    # column -> (label -> the levels at which it can stand, None if it is no label of the public hierarchy)
    levels_of_label: Mapping[str, Callable[[str], set[int] | None]] = field(repr=False)
    vectors: Sequence[tuple[int, ...]] = field(repr=False)
    cube_epsilon: float = 0.0  # spent on the choice of elements: a noisy cube, or noisy scores
    tau: int | None = None  # the threshold of the noisy cube, if there is one


def check_dp(frame: pl.DataFrame, claim: DpClaim) -> Verdict:
    """Everything that can be said of a differentially private release without its data."""
    names = list(claim.levels_of_label)
    if not set(names) <= set(frame.columns):
        return check_dp_lines(frame.columns, None, in_order=True, claim=claim)
    shown = frame.select(pl.col(names).cast(pl.String))
    return check_dp_lines(frame.columns, count_lines(shown), in_order=shown.equals(shown.sort(names)), claim=claim)


def count_lines(shown: pl.DataFrame) -> pl.DataFrame:
    """Different lines, and in the last column how many of each there are."""
    return shown.group_by(shown.columns).len(_copies_name(shown.columns))


def sum_lines(counted: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The counts of several tables together."""
    *names, copies = counted[0].columns
    return pl.concat(counted).group_by(names).agg(pl.col(copies).sum())


def check_dp_lines(columns: Sequence[str], counted: pl.DataFrame | None, *, in_order: bool, claim: DpClaim) -> Verdict:
    """The same from the different lines and their counts; None if columns are missing."""
    names = list(claim.levels_of_label)
    findings = [_find_parameters(claim), _find_coins(claim), _find_columns(columns, names)]
    if counted is not None:
        findings += [
            _find_copies(counted.get_column(counted.columns[-1]), claim),
            _find_labels(counted.select(names), claim),
            _find_order(in_order),
        ]
    return Verdict(tuple(findings))


def _copies_name(names: Sequence[str]) -> str:
    return f"copies of {' '.join(names)}"  # longer than any name, so none of them


def worst_delta(k: int, s: float, epsilon: float) -> float:
    """The greatest delta between n and n - 1 identical records over all n, by going through them."""
    rest = (1 - s) * math.exp(-epsilon)  # 1 - gamma, which a large epsilon would lose beside 1
    gamma = 1 - rest
    divergence = gamma * math.log(gamma / s) - rest * epsilon
    worst, n = 0.0, k
    while n <= k / gamma + 1 or math.exp(-n * divergence) > max(worst, _NEGLIGIBLE):
        worst = max(worst, _delta_at(n, max(k, n - math.ceil(rest * n) + 1), s, epsilon, rest))
        n += 1
    return worst


def _delta_at(n: int, first: int, s: float, epsilon: float, rest: float) -> float:
    """The sum over j >= first of P(n records leave j copies) minus exp(epsilon) P(n - 1 records do)."""
    log = math.lgamma(n + 1) - math.lgamma(first + 1) - math.lgamma(n - first + 1)
    log += first * math.log(s) + (n - first) * math.log1p(-s)
    term, total = math.exp(log), 0.0
    for j in range(first, n + 1):
        total += term * max(0.0, rest * n - (n - j))
        term *= (n - j) / (j + 1) * s / (1 - s)
        if term * n < total * 1e-16:
            break
    return total * math.exp(epsilon) / (n * (1 - s))


def _find_parameters(claim: DpClaim) -> Finding:
    spent = claim.sampling_epsilon + claim.cube_epsilon
    if claim.s > -math.expm1(-claim.sampling_epsilon) or spent > claim.epsilon * (1 + _ROUNDING):
        return Finding(
            "parameters",
            False,
            f"Sampling with probability {claim.s:g} costs more than epsilon {claim.epsilon:g} allows.",
        )
    delta = worst_delta(claim.k, claim.s, claim.sampling_epsilon)
    if claim.tau is not None:
        a = math.exp(-claim.cube_epsilon / len(claim.vectors))
        delta += len(claim.vectors) * a ** (claim.tau - 1) / (1 + a)
    allowed = claim.delta * (1 + _ROUNDING)
    words = f"epsilon {claim.epsilon:g} and delta {claim.delta:g} (computed anew: delta {delta:.6g})"
    if delta > allowed:
        return Finding("parameters", False, f"The parameters do not give {words}.")
    return Finding(
        "parameters",
        True,
        f"The parameters give {words}, if the release was drawn as its recipe says: that is proven of the mechanism and cannot "
        "be seen in a file.",
    )


def _find_coins(claim: DpClaim) -> Finding:
    if claim.coins == "secret":
        return Finding("coins", True, "The coins were the operating system's, which nobody can repeat.")
    if claim.coins is None:
        return Finding("coins", False, "Nothing says which coins were used; the manifest of the release does.")
    return Finding(
        "coins",
        False,
        "The release was made with a seed: anyone who has it can remove the noise. Make it again without one, and do not publish this.",
    )


def _find_columns(columns: Sequence[str], names: Sequence[str]) -> Finding:
    missing = [name for name in names if name not in columns]
    beside = [name for name in columns if name not in names]
    if missing or beside:
        faults = [f"lacks {', '.join(map(repr, missing))}"] if missing else []
        faults += [f"shows {', '.join(map(repr, beside))}, which no public hierarchy generalizes"] if beside else []
        return Finding("columns", False, f"The release {' and '.join(faults)}; do not publish it.")
    return Finding("columns", True, f"The release shows {', '.join(map(repr, names))} and nothing else.")


def _find_copies(copies: pl.Series, claim: DpClaim) -> Finding:
    n_few = int((copies < claim.k).sum())
    if n_few:
        return Finding(
            "copies", False, f"{n_few:,} of {counted(len(copies), 'different row')} stand fewer than {claim.k} times."
        )
    if copies.is_empty():
        return Finding("copies", True, "The release has no rows, so that none stands too few times.")
    return Finding("copies", True, f"Each of {counted(len(copies), 'different row')} stands at least {claim.k} times.")


def _find_labels(rows: pl.DataFrame, claim: DpClaim) -> Finding:
    levels: dict[str, dict[str | None, set[int] | None]] = {}
    unknown = []
    for name, levels_of in claim.levels_of_label.items():
        texts = rows.get_column(name).unique().to_list()
        levels[name] = {text: None if text is None else levels_of(text) for text in texts}
        n_unknown = sum(found is None for found in levels[name].values())
        unknown += [f"{counted(n_unknown, 'text')} of {name!r}"] if n_unknown else []
    if unknown:
        return Finding(
            "labels", False, f"{', '.join(unknown)} are no labels of the public hierarchies; do not publish it."
        )
    vectors, n_elsewhere = set(claim.vectors), 0
    for row in rows.iter_rows(named=True):
        stands = [levels[name][row[name]] or set() for name in claim.levels_of_label]
        if math.prod(map(len, stands)) < len(vectors):
            n_elsewhere += vectors.isdisjoint(product(*stands))
        else:
            n_elsewhere += not any(all(v in s for v, s in zip(vector, stands, strict=True)) for vector in vectors)
    if n_elsewhere:
        return Finding(
            "labels", False, f"{counted(n_elsewhere, 'different row')} are at levels that the recipe does not name."
        )
    return Finding(
        "labels", True, "Everything shown is a label of the public hierarchies, at levels that the recipe names."
    )


def _find_order(in_order: bool) -> Finding:
    if in_order:
        return Finding("order", True, "Rows are in the order of what they show, which says nothing about the original.")
    return Finding("order", False, "Rows are not in the order of what they show, so that it could tell who is who.")
