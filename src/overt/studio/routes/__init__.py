# SPDX-License-Identifier: Apache-2.0
"""One module per screen. Each gives a router; none decides anything about privacy."""

from collections.abc import Callable

from fastapi import APIRouter

from overt.studio.pages import Pages
from overt.studio.routes import around, check, coarser, compare, promise, release, risk, start, table

ROUTES: tuple[Callable[[Pages], APIRouter], ...] = (
    start.make_router,
    table.make_router,
    risk.make_router,
    promise.make_router,
    coarser.make_router,
    compare.make_router,
    release.make_router,
    check.make_router,
    around.make_router,
)
