# SPDX-License-Identifier: Apache-2.0
"""What an engine asks of the methods that it runs in parts is what these methods have, with the same parameters."""

from inspect import signature

import pytest

from contracts.methods import EXAMPLES
from overt.engine.scale import scaled_methods
from overt.engine.scale.scaled_run import METHODS

ASKED = {
    "anatomy": scaled_methods.PlansBuckets,
    "batch-matching": scaled_methods.MatchesLists,
    "blind-buckets": scaled_methods.DealsBlind,
    "dealing": scaled_methods.DrawsGroups,
    "full-domain": scaled_methods.ChoosesNode,
    "mondrian": scaled_methods.CutsRows,
    "rda": scaled_methods.DrawsGroups,
}


def facts_of(protocol):
    return {name: fact for kind in protocol.__mro__ for name, fact in vars(kind).items() if name[0] != "_"}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_an_engine_runs_has_what_it_asks_for(name):
    asked = facts_of(ASKED[name])
    examples = [method for method in EXAMPLES if method.name == name]
    assert asked and examples
    for method in examples:
        for fact, declared in asked.items():
            has = getattr(method, fact)
            assert isinstance(declared, property) != callable(has)
            if callable(has):
                assert [*signature(has).parameters] == [*signature(declared).parameters][1:]


def test_protocols_ask_for_something():
    asked = {fact for protocol in ASKED.values() for fact in facts_of(protocol)}
    assert asked == {
        "goal", "relaxed", "choose", "search", "name", "form", "k", "diversity", "matching", "strata", "plan_strata", "match_drawn",
        "stratify", "box_size", "bucket_size", "cuts",
    }  # fmt: skip
