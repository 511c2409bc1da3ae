# SPDX-License-Identifier: Apache-2.0
"""BlindBuckets: boxes made from quasi-identifiers alone, and buckets into which values are dealt blind.

Paper       Ours. The idea to hide who someone is and what they have separately is that of B. Li, Y. Liu, X. Han, J. Zhang,
            "Cross-Bucket Generalization", TKDE 2018; buckets with a second table are those of Anatomy.
Implements  Strata from quasi-identifiers, boxes of at least k rows inside them, a plan of each stratum's buckets from how often
            its values occur, and a uniform deal of the rows of each value to their places in the plan.
Departs     From cross-bucket generalization: nothing that chooses who is in which box or bucket looks at values and
            quasi-identifiers together, and goals are not only l different values.
Guarantee   Exact, for every belief, against an adversary who also knows this code and everyone's quasi-identifiers (Theorem S of docs/theory/safety.md):
            the probability of a release is the same for all tables that fit it, so that knowing the method adds nothing to what somebody
            believed before. Every bucket satisfies the goal; who has everyone's quasi-identifiers finds a person among at least k rows.
            That person's value may still be guessed from correlations, as it could if they were not in the table. Groups of the generalized
            form that show the same cells are one to a reader, who learns no more than somebody who can tell them apart.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

from numpy.random import Generator

from overt.algorithms.blind_buckets.boxes import CutStyle, cut_into_boxes
from overt.algorithms.blind_buckets.bundle_deal import deal_bundles, divide_by_count, require_persons
from overt.algorithms.blind_buckets.deal import Values, deal_blind, hand_out
from overt.algorithms.blind_buckets.plan import plan_strata
from overt.algorithms.blind_buckets.strata import ByColumns, Halvings, Strata, strata_of_plain
from overt.errors import InvalidInput
from overt.group_shape import GroupShape
from overt.guarantee import EXACT_ROWS, STRONG, Guarantee
from overt.method import CellEnds, Method, form_of_cells
from overt.privacy.alpha_k import AlphaKAnonymity
from overt.privacy.base import Property, require_whole
from overt.privacy.k_anonymity import KAnonymity
from overt.progress import Progress, silent
from overt.release import CrossBucketRelease, GeneralizedRelease, Release, ShuffledRelease
from overt.table import Table

Form = Literal["buckets", "shuffled", "generalized"]
USUAL_BOX = 5
USUAL_BUCKET = 12
ONE_STRATUM = Halvings()
_MADE: dict[str, type[Release]] = {
    "buckets": CrossBucketRelease,
    "shuffled": ShuffledRelease,
    "generalized": GeneralizedRelease,
}


@dataclass(frozen=True, kw_only=True)
class BlindBuckets(Method):
    """Boxes of at least k people who look alike, and buckets into which sensitive values are dealt at random.

    Parameters
    ----------
    goal
        What every bucket must satisfy: any property or several, of one or more sensitive columns. k-anonymity applies
        to boxes. t-closeness, delta-disclosure and beta-likeness compare with the whole table, not with the stratum.
    k
        The least number of rows in a box; if left out, the k of the goal's k-anonymity, or 5.
    rows_per_bucket
        The least number of rows in a bucket. Larger buckets leave less to guess from correlations and cost queries little.
    stratify
        How the table is divided into strata, which share no box and no bucket: `Halvings`, `ByColumns` or a `StrataTree`. Fix them before looking at values.
    cuts
        How boxes are cut: "relaxed" may put rows with the same value on different sides, "strict" may not.
    form
        "buckets": boxes in one table, values by bucket in another (or both in one file with sets of values). "shuffled": ordinary
        microdata in which each bucket's values are assigned to its rows at random. "generalized": each bucket is a group with a box of its own.
    cells
        "grid": ranges are rounded outward to a public grid, so their ends need not be anybody's values. "tight": they end at values of their rows.

    """

    name: ClassVar[str] = "blind-buckets"
    takes_bundles: ClassVar[bool] = True
    refusal_is_shown: ClassVar[bool] = True  # it follows from the counts of strata, which buckets show

    goal: Property
    k: int | None = None
    rows_per_bucket: int = USUAL_BUCKET
    stratify: Strata = ONE_STRATUM
    cuts: CutStyle = "relaxed"
    form: Form = "buckets"
    cells: CellEnds = "grid"

    def __post_init__(self) -> None:
        if not isinstance(self.goal, Property):
            raise InvalidInput("The goal of BlindBuckets is a property, such as FrequencyLDiversity(3).")
        if not self.goal.monotone:
            raise InvalidInput(
                f"BlindBuckets needs a goal that survives mergers and {self.goal} does not; choose another."
            )
        if self.k is not None:
            require_whole("k", self.k)
        require_whole("rows_per_bucket", self.rows_per_bucket)
        object.__setattr__(self, "stratify", strata_of_plain(self.stratify))
        for name, given, known in (("cuts", self.cuts, get_args(CutStyle)), ("form", self.form, get_args(Form))):
            if given not in known:
                raise InvalidInput(f"{name} is {given!r}; choose one of {', '.join(map(repr, known))}.")
        form_of_cells(self.cells)
        if self.k is not None and self.k < self._asked_k:
            raise InvalidInput(f"k is {self.k} and the goal asks for {self._asked_k}; leave k out, or raise it.")

    @property
    def _asked_k(self) -> int:
        return max((int(p.k) for p in self.goal.parts if isinstance(p, KAnonymity | AlphaKAnonymity)), default=0)

    @property
    def guarantee(self) -> Guarantee:
        """Theorem S of docs/theory/safety.md; boxes of one person show who is in the table."""
        is_exact = self.box_size == 1 and self.form != "generalized"
        return replace(STRONG, besides=EXACT_ROWS) if is_exact else STRONG

    @property
    def shows(self) -> str | None:
        return form_of_cells(self.cells)

    @property
    def table_names(self) -> tuple[str, ...]:
        return _MADE[self.form].table_names

    @property
    def file_shape(self) -> GroupShape:
        return replace(
            super().file_shape,
            boxes=self.form == "buckets",
            least_box=self.box_size,
            least_bucket=self.bucket_size,
            tight=True,
        )

    @property
    def parts_the_alike(self) -> bool:
        return self.cuts == "relaxed"

    @property
    def strata(self) -> tuple[str, ...]:
        return self.stratify.by if isinstance(self.stratify, ByColumns) else ()

    @property
    def most_strata(self) -> int:
        """How many strata there are at most; 0 if boxes show them, which never mix values of `by` columns."""
        return self.stratify.most_strata

    @property
    def box_size(self) -> int:
        """How many rows a box has at least."""
        return self.k if self.k is not None else self._asked_k or USUAL_BOX

    @property
    def bucket_size(self) -> int:
        """How many rows a bucket has at least, whatever the goal asks for beyond that."""
        return max(self.rows_per_bucket, self.box_size) if self.form == "generalized" else self.rows_per_bucket

    def anonymize(self, table: Table, *, rng: Generator, on_progress: Progress = silent) -> Release:
        """Put every row into a box and into a bucket, or raise `Unreachable`."""
        if not table.sensitive:
            raise InvalidInput(
                "BlindBuckets deals sensitive values and the table has none; give a column the role 'sensitive'."
            )
        on_progress("Planning buckets", 0, 1)
        strata, values = self.stratify.divide(table), Values.of(table.sensitive)
        if not table.has_bundles:
            deals = plan_strata(values, values.count(strata), self.goal, self.box_size, self.bucket_size)
            on_progress("Dealing values", 0, 1)
            buckets = deal_blind(values, strata, deals, rng)
        else:
            strata = divide_by_count(table, strata)
            require_persons(table, strata, max(self.box_size, self.bucket_size))
            buckets = deal_bundles(table, values, strata, self.goal, self.bucket_size, rng)
        if self.form == "generalized":
            return GeneralizedRelease(table, buckets, self)
        boxes = cut_into_boxes(table.quasi_identifiers, strata, self.box_size, self.cuts, rng, on_progress)
        if self.form == "buckets":
            return CrossBucketRelease(table, boxes, self, buckets)
        return ShuffledRelease(table, boxes, self, buckets, hand_out(buckets, rng))
