# SPDX-License-Identifier: Apache-2.0
"""Method: how a release is made. Everything that others may ask of one is declared here, with its default.

A method is a value: its goal and parameters are its fields, `anonymize` is its one verb, and `guarantee` says against whom its
releases hold. Nobody probes a method for attributes: a fact that is not declared here does not exist, and a class that declares
another one, or one that is spelt almost like these, fails when it is imported.

Beside it are four abilities: the cuts that a `Traceable` method tried can be traced, how a `Searching` one chose its node is
known, an `Inferring` one works out itself what someone who knows it believes, and one that `MatchesAtEqualRanks` says how.
"""

from abc import ABC, abstractmethod
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, get_annotations, signature
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from numpy.random import Generator, RandomState

from overt.arguments import WORDS, refusal, said
from overt.errors import InvalidInput
from overt.group_shape import GroupShape
from overt.guarantee import Guarantee
from overt.progress import Progress, silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from overt.privacy.base import Number, Property
    from overt.release import Release
    from overt.table import Table
    from overt.trace import Believed, BestNode, StrictCuts, Trace, Trials


CellEnds = Literal["grid", "tight"]


class Method(ABC):
    """Everything public about how a release is made. Its coins (`rng`) are the owner's secret.

    A subclass is a frozen, keyword-only dataclass. It must give `name`, `goal`, `guarantee` and `anonymize`; the other facts have
    the defaults below, as a field, a class variable or a property of its own.
    """

    name: ClassVar[str]  # as in a recipe: "mondrian"
    is_dp: ClassVar[bool] = False  # whether it is differentially private, by public hierarchies of every column
    generalizes_every_column: ClassVar[bool] = (
        False  # whether it refuses columns that it would have to attach as they are
    )

    takes_bundles: ClassVar[bool] = (
        False  # whether it takes persons with several rows, and goals with a bound of its own for a value
    )

    refusal_is_shown: ClassVar[bool] = (
        False  # whether its releases show of every goal whether it would have been refused with the same parameters
    )

    if TYPE_CHECKING:  # a property that exists would become the default of the fields of the same name

        @property
        def goal(self) -> Property:
            """What every release of this method satisfies."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Against whom the goal holds of every release, and for which beliefs: of this goal, with these parameters."""

    @abstractmethod
    def anonymize(self, table: "Table", *, rng: Generator, on_progress: Progress = silent) -> "Release":
        """Make a release of a table, or raise `Unreachable`."""

    @property
    def against(self) -> str:
        """Whom the guarantee holds against, in words."""
        return str(self.guarantee)

    @property
    def shows(self) -> str | None:
        """How a cell is to be read, unless a column is to be shown otherwise; None is what is usual for the column."""
        return None

    @property
    def file_shape(self) -> GroupShape:
        """What it promises of its groups that can be seen in files: `overt check` asks for all of it, and for no more."""
        return GroupShape(method=self.name, tables=frozenset(self.table_names), strata=self.strata)

    @property
    def max_suppressed(self) -> "Number":
        """The share of rows that a release may leave out."""
        return 0

    @property
    def table_names(self) -> tuple[str, ...]:
        """The tables that its releases are published as."""
        return ("release",)

    @property
    def columns_read(self) -> tuple[str, ...]:
        """Columns without a role that it looks at."""
        return ()

    @property
    def strata(self) -> tuple[str, ...]:
        """Quasi-identifiers whose values are never mixed in a group."""
        return ()

    @property
    def draws_blind(self) -> bool:
        """Whether which rows of a value go where is uniform, so that counts can be estimated without bias."""
        return False

    @property
    def parts_the_alike(self) -> bool:
        """Whether rows with the same quasi-identifiers may be in different groups, by their order or by coins."""
        return False

    @property
    def strict_cuts(self) -> "StrictCuts | None":
        """How it cuts groups, if nothing but their sizes decides."""
        return None

    @property
    def most_strata(self) -> int | None:
        """Into how many strata, at most, rows are divided before values are dealt blind; 0 if the boxes of a release show them, None if no values are."""
        return None

    @property
    def external(self) -> Any:
        """An external database that it compares with, or the name of its file in a recipe."""
        return None

    @property
    def not_promised(self) -> tuple[str, ...]:
        """What nobody should take its releases to promise, in sentences for everybody."""
        return ()

    @property
    def claimed_budget(self) -> "tuple[Number, Number] | None":
        """The epsilon and delta that it claims, true or not; None if it claims no differential privacy."""
        return None

    def __init_subclass__(cls, **how: Any) -> None:
        super().__init_subclass__(**how)
        if "anonymize" in vars(cls):
            cls.anonymize = _of_tables(cls.anonymize)  # type: ignore[method-assign]
        if "__post_init__" in vars(cls):
            cls.__post_init__ = _with_goal(cls.__post_init__)  # type: ignore[attr-defined]
        new = {name for name in _declared(cls) if not name.startswith("_")}
        if "against" in new:
            raise TypeError(f"{cls.__name__}.against is said twice; the words come from its guarantee.")
        for name in sorted(new - _known_to(cls)):
            near = get_close_matches(name, FACTS, n=1, cutoff=0.85)
            if near or _is_class_variable(cls, name):
                advice = (
                    f"did you mean {near[0]!r}?"
                    if near
                    else f"start it with an underscore, or use {', '.join(sorted(FACTS))}."
                )
                raise TypeError(f"{cls.__name__}.{name} is nothing that a method can say of itself; {advice}")


def form_of_cells(cells: CellEnds) -> Literal["grid"] | None:
    """How cells are to be read that are rounded outward to a public grid, or are the smallest that hold their rows."""
    if cells not in get_args(CellEnds):
        raise InvalidInput(f"cells is {cells!r}; choose one of {', '.join(map(repr, get_args(CellEnds)))}.")
    return "grid" if cells == "grid" else None


def _with_goal(post_init: Any) -> Any:
    """A method whose goal is none says so before it looks at it."""

    @wraps(post_init)
    def checked(self: Method) -> None:
        require_goal(self)
        post_init(self)

    return checked


def require_goal(method: Method) -> None:
    """Refuse a method whose goal is no property."""
    from overt.privacy.base import Property

    goal = vars(method).get("goal")
    if goal is not None and not isinstance(goal, Property):
        raise InvalidInput(refusal(f"The goal of {type(method).__name__}", goal, WORDS["Property"]))


def _of_tables(anonymize: Any) -> Any:
    """What is no table, or no random numbers, is refused in a sentence.

    A method that does not say that it takes persons with several rows refuses them, and a bound for a single value.
    """
    needs_rng = signature(anonymize).parameters["rng"].default is Parameter.empty

    @wraps(anonymize)
    def checked(self: Method, table: "Table", *given: Any, **how: Any) -> "Release":
        from overt.table import Table

        name = f"{type(self).__name__}(...).anonymize"
        if not isinstance(table, Table):
            raise InvalidInput(refusal(f"The table of {name}", table, WORDS["Table"]))
        rng = how.get("rng")
        is_none = needs_rng if rng is None else isinstance(rng, RandomState | int | float | str | bytes)
        if is_none:
            raise InvalidInput(
                f"{name} draws random numbers: give it rng=overt.secret_generator(), which nobody can repeat; {said(rng)} was given."
            )
        require_goal(self)
        if self.takes_bundles:
            made: Release = anonymize(self, table, *given, **how)
            return made
        if table.has_bundles:
            raise InvalidInput(
                f"{type(self).__name__} needs one row per person, but here persons have several. Use BlindBuckets "
                '("blind-buckets"), which keeps the rows of a person together; or keep one row per person (keep = 1), and then '
                "only this row is protected."
            )
        if any(part.has_own_bounds for part in self.goal.parts):
            raise InvalidInput(
                f"{type(self).__name__} does not support bounds for single values; leave out 'bounds', or use BlindBuckets (\"blind-buckets\")."
            )
        released: Release = anonymize(self, table, *given, **how)
        return released

    return checked


def _declared(cls: type) -> set[str]:
    """What a class itself says that its instances have."""
    return {*vars(cls), *get_annotations(cls)}


def _known_to(cls: type) -> set[str]:
    """What one of the classes above it declares already."""
    return {name for above in cls.__mro__[1:] for name in _declared(above)} | {"goal"}


def _is_class_variable(cls: type, name: str) -> bool:
    """Whether a name is declared as a fact about the class, rather than as a field or a method of it."""
    declared = get_annotations(cls).get(name)
    if declared is None:
        return not (callable(vars(cls)[name]) or hasattr(vars(cls)[name], "__get__"))
    return "ClassVar" in str(declared)


FACTS = frozenset(name for name in _declared(Method) | {"goal"} if not name.startswith("_"))


class Traceable(Method):
    """A method that cuts groups in two, and hands over what it tried."""

    @abstractmethod
    def trace(self, table: "Table", *, on_progress: Progress = silent) -> "Trace":
        """Every cut that is tried on a table, made or not."""


class Searching(Method):
    """A method that chooses a node of the lattice of hierarchies."""

    @property
    @abstractmethod
    def optimise(self) -> str:
        """What the node has the least of: "loss", "discernibility", "average group size" or "precision"."""

    @abstractmethod
    def best_node(self, table: "Table") -> "BestNode":
        """How the node is chosen."""


class MatchesAtEqualRanks(Method):
    """A method that matches lists of rows, one for each value, by cutting all of them at equal ranks."""

    @abstractmethod
    def scale_of_columns(self, table: "Table") -> "NDArray[np.float64] | None":
        """(quasi-identifier) -> how much a step of its code counts in a cut; None if these parameters match in another way."""


class Inferring(Method):
    """A method that tries levels in order, and works out itself what someone who knows that believes."""

    @property
    @abstractmethod
    def functions(self) -> str:
        """What its levels are: "median cuts", "hierarchy levels" or "full domain"."""

    @abstractmethod
    def believed(self, release: "Release", *, rng: Generator) -> "Believed":
        """What is believed of everybody."""

    @abstractmethod
    def failed_levels(self, release: "Release", *, rng: Generator) -> "Trials | None":
        """The levels that failed before, if nothing else decided."""
