# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_scaled_run.py
"""Which engine is meant: words of a command line, a session of Spark, or an engine that is there already."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from overt.engine.scale.local import LocalEngine
from overt.engine.scale.seam import ScaleEngine
from overt.errors import InvalidInput

ENGINES = ("out-of-core", "spark")


@contextmanager
def engine_of(named: Any, *, master: str | None = None, staging: str | None = None) -> Iterator[ScaleEngine]:
    """An engine, and afterwards nothing of what it staged.

    `named` is "out-of-core", "spark" or a session of Spark, which is left running. `master` says where a session that is made here runs,
    `staging` where rows are staged.
    """
    if not isinstance(named, str) and master is not None:
        raise InvalidInput("A session of Spark has its master already; leave master out.")
    if isinstance(named, str):
        if named not in ENGINES:
            raise InvalidInput(f"There is no engine {named!r}; the engines are {', '.join(map(repr, ENGINES))}.")
        if master is not None and named != "spark":
            raise InvalidInput("Only the engine 'spark' has a master; leave --master out.")
        if named == "out-of-core":
            engine: ScaleEngine = LocalEngine.out_of_core(None if staging is None else Path(staging))
            try:
                yield engine
            finally:
                engine.close()
            return
    from overt.engine.scale.spark import SparkEngine
    from overt.engine.scale.spark_session import is_session, own_session

    if not isinstance(named, str) and not is_session(named):
        raise InvalidInput(
            f"An engine is {' or '.join(map(repr, ENGINES))} or a session of Spark, not a {type(named).__name__}."
        )
    with own_session(master, staging) if isinstance(named, str) else nullcontext(named) as session:
        spark = SparkEngine(session, staging)
        try:
            yield spark
        finally:
            spark.close()
