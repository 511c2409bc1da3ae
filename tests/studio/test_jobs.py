# SPDX-License-Identifier: Apache-2.0
"""Jobs run one after another, say how far they are, stop when they are cancelled, and tell errors in the library's words."""

import threading

import pytest

from overt.errors import InvalidInput, TooLarge
from overt.studio.jobs import MOST_LEAVING, MOST_WAITING, Job, Jobs


@pytest.fixture
def jobs():
    made = Jobs()
    yield made
    made.close()


def wait(job: Job) -> Job:
    tick = threading.Event()
    while not job.is_over:
        tick.wait(0.01)
    return job


def test_a_job_gives_its_result(jobs):
    job = wait(jobs.add("s", "sum", lambda on_progress: 1 + 1))
    assert (job.state, job.result) == ("done", 2)
    assert jobs.find("s", job.number) is job
    assert jobs.find("other", job.number) is None


def test_cancel_stops_at_the_next_word_about_progress(jobs):
    begun = threading.Event()

    def work(on_progress):
        begun.set()
        while True:
            try:
                on_progress("counting", 1, 2)
            except Exception:  # a library that swallows errors does not swallow a cancel
                continue

    job = jobs.add("s", "forever", work)
    begun.wait(5)
    job.cancel()
    assert wait(job).state == "cancelled"
    assert job.result is None


def test_a_job_that_waits_is_cancelled_at_once_and_never_runs(jobs):
    go, ran = threading.Event(), []
    first = jobs.add("s", "first", lambda on_progress: go.wait(5))
    second = jobs.add("s", "second", lambda on_progress: ran.append(1))
    second.cancel()
    assert second.state == "cancelled"
    go.set()
    wait(first)
    wait(jobs.add("s", "third", lambda on_progress: None))
    assert ran == []


def test_errors_of_the_library_are_told_and_others_do_not_tell_what_they_hold(jobs):
    def refuse(on_progress):
        raise InvalidInput("k is 0; give at least 1.")

    def crash(on_progress):
        raise ValueError("Mrs Smith has HIV")

    assert wait(jobs.add("s", "a", refuse)).error == "k is 0; give at least 1."
    crashed = wait(jobs.add("s", "b", crash))
    assert crashed.state == "failed"
    assert "Smith" not in crashed.error
    assert wait(jobs.add("s", "c", lambda on_progress: 3)).result == 3  # the worker goes on


def test_the_queue_has_an_end(jobs):
    go = threading.Event()
    jobs.add("s", "first", lambda on_progress: go.wait(5))
    with pytest.raises(TooLarge, match="waiting already"):
        for _ in range(MOST_WAITING + 2):
            jobs.add("s", "more", lambda on_progress: None)
    go.set()


def test_a_cancel_is_answered_at_once_and_the_next_job_does_not_wait_for_the_work_to_notice(jobs):
    go, begun = threading.Event(), threading.Event()

    def deaf(on_progress):
        begun.set()
        go.wait(5)
        return "too late"

    job = jobs.add("s", "says nothing", deaf)
    begun.wait(5)
    jobs.cancel(job)
    assert job.state == "cancelled"
    assert wait(jobs.add("s", "next", lambda on_progress: 7)).result == 7
    go.set()
    assert wait(jobs.add("s", "after", lambda on_progress: 8)).result == 8
    assert job.result is None


def test_cancelled_work_that_never_notices_cannot_fill_the_machine(jobs):
    go = threading.Event()
    before = threading.active_count()
    for _ in range(10):
        begun = threading.Event()
        job = jobs.add("s", "says nothing", lambda on_progress, begun=begun: (begun.set(), go.wait(5)))
        begun.wait(0.2)
        jobs.cancel(job)
    assert threading.active_count() <= before + MOST_LEAVING
    go.set()


def test_the_queue_goes_on_as_soon_as_any_cancelled_work_notices(jobs):
    """Somebody edits quickly while counts run: more were given up than may go unnoticed, and the next must not wait for the last of them alone."""
    gates = [threading.Event() for _ in range(MOST_LEAVING + 1)]
    for gate in gates:
        begun = threading.Event()
        job = jobs.add("s", "says nothing", lambda on_progress, begun=begun, gate=gate: (begun.set(), gate.wait(30)))
        assert begun.wait(5)
        jobs.cancel(job)
    after = jobs.add("s", "what a page waits for", lambda on_progress: 7)
    assert not after.wait(0.1)
    gates[0].set()
    assert after.wait(5)
    assert after.result == 7
    for gate in gates:
        gate.set()


def test_after_any_number_of_cancelled_jobs_one_works_at_a_time(jobs):
    at_once, most, lock = [0], [0], threading.Lock()

    def work(on_progress):
        with lock:
            at_once[0] += 1
            most[0] = max(most[0], at_once[0])
        threading.Event().wait(0.01)
        with lock:
            at_once[0] -= 1

    for _ in range(5):
        go, begun = threading.Event(), threading.Event()
        job = jobs.add("s", "deaf", lambda on_progress, go=go, begun=begun: (begun.set(), go.wait(5)))
        begun.wait(5)
        jobs.cancel(job)
        go.set()
    for job in [jobs.add("s", "count", work) for _ in range(10)]:
        assert wait(job).state == "done"
    assert most == [1]


def test_what_a_page_stands_still_for_goes_before_runs_and_says_where_it_stands(jobs):
    go, begun, order = threading.Event(), threading.Event(), []
    jobs.add("s", "long", lambda on_progress: (begun.set(), go.wait(5)))
    begun.wait(5)
    for n in range(MOST_WAITING):
        jobs.add("another table", "a run", lambda on_progress, n=n: order.append(n))
    first, second = (
        jobs.add("s", "count", lambda on_progress, n=n: order.append(n), before_others=True)
        for n in ("first", "second")
    )
    assert [jobs.n_ahead(job) for job in (first, second, *jobs.open("another table")[:2])] == [1, 2, 3, 4]
    assert jobs.open("s")[1:] == [first, second]
    go.set()
    wait(jobs.open("another table")[-1])
    assert order[:3] == ["first", "second", 0]


def test_how_much_longer_a_stage_takes_is_said_once_it_can_be_told(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    job = Job(1, "s", "count", lambda on_progress: None, state="running")
    job.on_progress("sampling", 1, 10)
    assert job.seconds_left is None
    now[0] += 10
    assert job.seconds_left == 90
    job.on_progress("measuring", 0, 0)
    now[0] += 10
    assert job.seconds_left is None
