# SPDX-License-Identifier: Apache-2.0
"""What to use instead of a method to whose releases replaying adds something."""

from collections.abc import Callable

from overt.algorithms.blind_buckets import method_that_reaches
from overt.guarantee import Beliefs
from overt.method import Method
from overt.privacy.base import Property
from overt.release import Release


def find_alternative(release: Release, goal: Property) -> str:
    """A sentence for the owner: that the method leaks, and the one that reaches the same goal and does not. Empty if nothing leaks.

    It is no matter of chance: whether the other method reaches the goal follows from how often values occur.
    """
    method = release.made_by
    if method is None or release.hides_table or not release.table.sensitive:
        return ""
    return alternative_to(method, lambda: method_that_reaches(goal, release.table))


def alternative_to(method: Method, find_other: Callable[[], Method | None]) -> str:
    """The same, wherever the rows are. The other method is looked for only if this one leaks."""
    if method.guarantee.beliefs is Beliefs.EVERY:
        return ""
    if method.guarantee.beliefs is Beliefs.FLAT:
        leaks = f"someone who knows how values depend on quasi-identifiers learns more by replaying {method.name}"
    else:
        leaks = f"someone who replays {method.name} can learn more than its release shows"
    other = find_other()
    if other is None:
        return f"{leaks}. blind-buckets cannot reach this goal with all rows of this table; ask for less, and it can."
    return (
        f"{leaks}. {other.name} reaches the same goal on this table, and replaying it adds nothing, whatever somebody believed before: "
        f'write name = "{other.name}" under [method], without the other settings there.'
    )
