"""Tests that the benchmarks run, label their subjects, and use the same documents everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

if not (ROOT / "bench").is_dir():
    pytest.skip("the benchmarks are not in this distribution", allow_module_level=True)


#: Changes with the documents; figures of different documents cannot be compared.
DIGEST = "174f851cc17dc7a0be0b96dffc9d141544548653a0adf8229838d71c760de9a9"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.mark.alone
@pytest.mark.long("measure")
def test_a_quick_run_measures_a_case_without_a_verdict(tmp_path: Path) -> None:
    report = tmp_path / "figures.json"
    done = run("-X", "utf8", "-m", "bench", "--quick", "--only", "process", "--json", str(report))
    assert done.returncode == 0, done.stderr
    assert "missed" not in done.stdout
    row = json.loads(report.read_text("utf-8"))["rows"][0]
    assert row["case"] == "process"
    assert row["ratio"] == pytest.approx(row["ours"]["median"] / row["counterpart"]["median"])


@pytest.mark.parametrize("option", ["--check", "--update-readme"])
def test_a_quick_run_can_neither_check_nor_publish(option: str) -> None:
    done = run("-m", "bench", "--quick", option)
    assert done.returncode == 2
    assert "too little" in done.stderr


@pytest.mark.parametrize(
    "make", ["articles import record_set_of_size", "works import answer_of_size"]
)
def test_other_sources_documents_are_the_same_in_every_process(make: str) -> None:
    code = (
        f"import hashlib; from bench.{make} as make;"
        "print(hashlib.sha256(make(50_000).encode()).hexdigest())"
    )
    digests = {run("-c", code).stdout.strip() for _ in range(2)}
    assert len(digests) == 1
    assert len(digests.pop()) == 64


def test_the_documents_are_the_same_everywhere() -> None:
    code = (
        "import hashlib; from bench.documents import feed_of_size as make;"
        "print(hashlib.sha256(make(100_000).encode()).hexdigest())"
    )
    done = run("-c", code)
    assert done.stdout.strip() == DIGEST, done.stderr


def test_a_ratio_is_costs_against_costs_or_times_faster() -> None:
    code = """
from bench.measure import Bar, Figure, Row
ours, theirs = Figure((1.0, 2.0, 9.0)), Figure((4.0, 5.0, 6.0))
cost = Row("a", "", ours, theirs, Bar(0.5))
speed = Row("b", "", ours, theirs, Bar(3, at_least=True))
assert (cost.ratio, cost.best_ratio, cost.verdict) == (0.4, 0.25, "met")
assert (speed.ratio, speed.best_ratio, speed.verdict) == (2.5, 4.0, "missed")
assert Row("c", "", bar=Bar(1), missing="why").verdict == "not measured"
"""
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
