# SPDX-License-Identifier: Apache-2.0
import threading

import pytest

from overt.cautions import caution, noting_cautions
from overt.errors import Caution


def test_jobs_that_run_at_the_same_time_hear_their_own_cautions_only():
    both, heard = threading.Barrier(2), {}

    def job(name):
        with noting_cautions() as noted:
            both.wait()
            caution(f"of {name}")
            both.wait()
        heard[name] = noted

    threads = [threading.Thread(target=job, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {"one": ["of one"], "other": ["of other"]}


def test_where_nobody_notes_them_they_are_warnings_of_the_caller():
    with pytest.warns(Caution, match="look here") as caught:
        caution("look here")
    assert caught[0].filename == __file__
