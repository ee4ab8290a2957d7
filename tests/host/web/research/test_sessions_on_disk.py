"""Tests sessions in their file: several processes, kills, another key, thousands of steps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.config import Config, WebConfig
from carrel.web.research.exporting import export_session
from carrel.web.research.sessions import SessionNotFoundError, SessionStore
from carrel.web.research.sessions.session import MAX_STEPS
from carrel.web.research.sessions.stepping import record_step
from carrel.web.research.sessions.store import open_sessions
from carrel.web.research.sessions.views import progress_view
from support.killing import kill_rounds, rounds

#: Opens the sessions of a folder, as `carrel serve` does.
WORKER = """
import sys
from pathlib import Path
from carrel.config import Config, WebConfig
from carrel.web.research.sessions.stepping import record_step
from carrel.web.research.sessions.store import open_sessions
folder = Path(sys.argv[1])
config = Config(cache_dir=folder, data_dir=folder, web=WebConfig(research=True))
sessions = open_sessions(config)
id_ = sys.argv[2]
def step(number):
    record_step(sessions, {
        "search_step": f"step {number}", "step_number": number, "next_step_needed": True,
        "session_id": id_})
sessions.get(id_)
"""


def configuration(folder: Path, key: str = "key") -> Config:
    return Config(
        cache_dir=folder,
        data_dir=folder,
        web=WebConfig(research=True, key_file=None if key == "key" else folder / key),
    )


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SessionStore]:
    store = open_sessions(configuration(tmp_path))
    yield store
    store.close()


def begin(sessions: SessionStore) -> str:
    given = {"search_step": "look", "step_number": 1, "next_step_needed": True}
    return record_step(sessions, given)[0].id


@pytest.mark.requirement("web:sessions:processes")
def test_two_processes_add_to_one_session_and_lose_no_step(
    sessions: SessionStore, tmp_path: Path
) -> None:
    id_ = begin(sessions)
    code = WORKER + "for n in range(int(sys.argv[3]), int(sys.argv[3]) + 30): step(n)"
    children = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), id_, str(start)])
        for start in (100, 200)
    ]
    for child in children:
        assert child.wait(timeout=120) == 0
    numbers = [one.number for one in sessions.get(id_).steps]
    assert sorted(numbers) == [1, *range(100, 130), *range(200, 230)]


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_process_leaves_every_step_that_it_acknowledged(
    sessions: SessionStore, tmp_path: Path
) -> None:
    id_ = begin(sessions)
    worker = tmp_path / "worker.py"
    worker.write_text(
        WORKER + "print('ready', flush=True)\n"
        "for n in range(int(sys.argv[3]), 10**9):\n"
        "    step(n)\n"
        "    print('done', n, flush=True)\n",
        "utf-8",
    )
    starts = iter(range(1000, 10**9, 1000))
    acknowledged: set[int] = set()
    words = lambda _: (str(tmp_path), id_, str(next(starts)))  # noqa: E731
    for numbers in kill_rounds(worker, words, count=rounds(3), longest=0.1):
        acknowledged |= {int(one) for one in numbers}
        kept = {one.number for one in sessions.get(id_).steps}
        assert acknowledged <= kept or len(kept) == MAX_STEPS
    assert acknowledged


@pytest.mark.requirement("web:sessions:other-key")
def test_a_session_of_another_key_is_not_found_and_not_removed(
    sessions: SessionStore, tmp_path: Path
) -> None:
    id_ = begin(sessions)
    other = open_sessions(configuration(tmp_path, "other.key"))
    with pytest.raises(SessionNotFoundError):
        other.get(id_)
    other.close()
    assert len(sessions.get(id_).steps) == 1


@pytest.mark.long("load")
def test_steps_beyond_the_most_cost_no_more_and_are_reported(sessions: SessionStore) -> None:
    id_ = begin(sessions)

    def seconds(first: int, count: int) -> float:
        start = time.perf_counter()
        for number in range(first, first + count):
            session, warning = record_step(
                sessions,
                {
                    "search_step": "look", "step_number": number, "next_step_needed": True,
                    "session_id": id_, "revises_step": 1, "is_revision": True,
                },
            )  # fmt: skip
            progress_view(session, number, mode="auto", warning=warning)
        assert ("begin a new session" in warning) == (first > MAX_STEPS)
        return time.perf_counter() - start

    seconds(2, MAX_STEPS - 1)
    early, late = seconds(MAX_STEPS + 1, 50), seconds(9_950, 50)
    assert late < early * 4 + 0.5
    session = sessions.get(id_)
    assert len(session.steps) == MAX_STEPS
    assert session.superseded_by(session.steps[0]) == MAX_STEPS


def test_an_export_is_equal_in_every_process(sessions: SessionStore, tmp_path: Path) -> None:
    id_ = begin(sessions)
    code = WORKER + (
        "from carrel.web.research.exporting import export_session\n"
        "import json\n"
        "data = export_session(sessions.get(id_), sys.argv[3], exported_at='now', principal='p')\n"
        "print(json.dumps(data))"
    )
    for form in ("markdown", "json"):
        outputs = {
            subprocess.run(
                [sys.executable, "-c", code, str(tmp_path), id_, form],
                capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
            ).stdout
            for seed in ("1", "2")
        }  # fmt: skip
        assert len(outputs) == 1
    export = export_session(sessions.get(id_), "markdown", exported_at="now", principal="p")
    assert "## Steps" in export["document"]
