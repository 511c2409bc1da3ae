# SPDX-License-Identifier: Apache-2.0
# Tested through tests/report/test_report.py
"""A report as plain text, for terminals and e-mail."""

import textwrap
from collections.abc import Iterator

from overt.audience import NOTICE
from overt.report import downcoding, sentences
from overt.report.leak import sentences_of_leak
from overt.report.owner_report import Report
from overt.report.sequence import sentences_of


def text_of(report: Report, *, width: int = 100) -> str:
    """The report in words, without plots."""
    return "\n".join(line for block in _blocks(report) for line in [*_wrapped(block, width), ""])


def _blocks(report: Report) -> Iterator[list[str]]:
    yield [NOTICE]
    yield [f"{report.name}: {sentences.headline(report)} {report.opening.condition}"]
    yield from ([heading.upper(), *said] for heading, said in report.opening.rows)
    yield ["AGAINST WHOM", sentences.of_replay(report.guarantee, said=report.cautions)]
    yield [
        "WHAT WAS ASKED",
        *(f"{goal.asked}; reached: {goal.reached}" for goal in report.goals),
        *sentences.of_rates(report),
    ]
    if report.leak is not None:
        yield ["WHAT SOMEONE WHO KNOWS THE METHOD LEARNS", *sentences_of_leak(report.leak)]
    if report.levels_tried is not None:
        yield ["LEVELS TRIED IN ORDER", *sentences_of(report.levels_tried)]
    yield ["WHO CAN BE FOUND", *sentences.of_finding(report)]
    if report.downcoded is not None:
        yield [downcoding.TITLE.upper(), *report.downcoded.sentences()]
    pairs = zip(report.before.disclosures, report.after.disclosures, strict=True)
    if learnt := [sentences.of_learning(before, after, report.thing) for before, after in pairs]:
        yield ["WHAT CAN BE LEARNT", *learnt]
    yield ["WHAT IT COST", *sentences.of_cost(report)]
    if report.cautions:
        yield ["CAUTION", *report.cautions]


def _wrapped(block: list[str], width: int) -> list[str]:
    title, *items = block
    lines = textwrap.wrap(title, width)
    for item in items:
        lines += textwrap.wrap(item, width, initial_indent="  ", subsequent_indent="  ")
    return lines
