"""pytest options that skip long tests, and a summary of skipped tests.

`--quick` skips tests marked `long`, and most cases of tests with many; `--sample` skips most cases
of the kinds in `SAMPLED`. Tests marked `alone` do not run in parallel with others:
`scripts/test.py` runs those first, one after another, then the rest in parallel. `--note` writes
the outcome of a run to a file, `--noted` shows that of the first at the end of the second, and
`--again` runs only the tests that failed in a noted run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

#: Kinds of long tests, with descriptions.
LONG: Final = {
    "builds": "compiling plugins, making packages and environments",
    "corpus": "captured responses",
    "flood": "floods of hostile calls, frames and plugins",
    "kills": "repeated kills of processes",
    "load": "servers under load, and how they end",
    "matrix": "all combinations of formats, tools and registries",
    "measure": "benchmarks",
    "replicas": "servers that share a Redis server",
    "servers": "operation of servers over HTTP: metrics, traces, probes, logs, refusals",
    "snippets": "the documentation's snippets",
    "surfaces": "the documents of other servers, sentence by sentence",
    "programs": "comparisons with other programs, and other people's clients, browsers and servers",
}
#: Kinds of which a sample runs every third case of each test, the first included.
SAMPLED: Final = frozenset({"corpus", "flood", "matrix"})
_EVERY: Final = 3
#: A quick run samples each test with more cases than this.
_MANY: Final = 3
ALL: Final = "python3 scripts/test.py --all"

#: Ids in the requirement markers of all collected tests, selected or not.
CARRIED: Final = pytest.StashKey[set[str]]()

_REASON: Final = re.compile(r"^(Skipped: )?(.*)$", re.DOTALL)
_LEFT_OUT: Final = "long: "
_BEYOND: Final = "beyond the sample: "
_FURTHER: Final = "further cases of tests with many"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("carrel")
    group.addoption(
        "--quick", action="store_true", help="leave out long tests and most cases of others"
    )
    group.addoption("--sample", action="store_true", help="leave out most cases of some long tests")
    group.addoption("--note", metavar="FILE", help="write the outcome of this part to FILE")
    group.addoption("--noted", metavar="FILE", help="show the outcome of an earlier part")
    group.addoption(
        "--again", metavar="FILE", action="append", help="run the tests that failed in a noted part"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[CARRIED] = {
        mark.args[0] for item in items for mark in item.iter_markers("requirement")
    }
    cases: Counter[str] = Counter()
    every = Counter(_test_of(item) for item in items)
    for item in items:
        kind = _kind_of(item)
        reason = ""
        if config.getoption("quick"):
            if kind:
                reason = f"{_LEFT_OUT}{kind}"
            elif every[_test_of(item)] > _MANY:
                reason = _FURTHER
        elif config.getoption("sample") and kind in SAMPLED:
            reason = f"{_BEYOND}{kind}"
        number = cases[_test_of(item)]
        cases[_test_of(item)] += 1
        if reason and (reason.startswith(_LEFT_OUT) or number % _EVERY):
            item.add_marker(pytest.mark.skip(reason=reason), append=False)
    if config.getoption("again"):
        wanted = set(failed_in(*map(Path, config.getoption("again"))))
        config.hook.pytest_deselected(items=[one for one in items if one.nodeid not in wanted])
        items[:] = [one for one in items if one.nodeid in wanted]


def _test_of(item: pytest.Item) -> str:
    """Returns the id of a test without its case."""
    return item.nodeid.partition("[")[0]


def _kind_of(item: pytest.Item) -> str:
    """Returns the kind of a long test; empty for others."""
    long = item.get_closest_marker("long")
    if long is None:
        return ""
    [kind] = long.args
    if kind not in LONG:
        known = ", ".join(LONG)
        raise pytest.UsageError(f"{item.nodeid}: long({kind!r}) is unknown; there are: {known}")
    return str(kind)


def failed_in(*notes: Path) -> list[str]:
    """Returns the ids of the tests that failed in the runs that wrote these notes."""
    return [
        name
        for note in notes
        if note.exists()
        for name in json.loads(note.read_text("utf-8"))["failed"]
    ]


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return
    note = _note(terminalreporter.stats)
    noted = config.getoption("noted")
    if config.getoption("note"):
        Path(config.getoption("note")).write_text(json.dumps(note), "utf-8")
        if not noted:
            return
    if config.getoption("again"):
        _report_repeated(terminalreporter, note)
        return
    skipped = Counter(note["skipped"])
    if noted and Path(noted).exists():
        earlier = json.loads(Path(noted).read_text("utf-8"))
        skipped.update(earlier["skipped"])
        _report_earlier(terminalreporter, earlier)
    elif not config.getoption("quick") and not config.getoption("sample"):
        return  # pytest's own summary has the reasons
    if skipped:
        terminalreporter.section("left out", bold=True)
        for line in left_out(skipped):
            terminalreporter.line(line)


def left_out(skipped: Counter[str]) -> list[str]:
    """Returns one line for each reason, the long kinds first."""
    lines = []
    for kind, words in LONG.items():
        for prefix, more in ((_LEFT_OUT, ""), (_BEYOND, ", beyond a sample")):
            count = skipped.get(f"{prefix}{kind}", 0)
            if count:
                lines.append(f"{_tests(count)}: {words}{more}; to run them: {ALL}")
    if further := skipped.get(_FURTHER, 0):
        lines.append(f"{_tests(further)}: {_FURTHER}, beyond a sample; to run them: {ALL}")
    for reason, count in sorted(skipped.items()):
        if not reason.startswith((_LEFT_OUT, _BEYOND, _FURTHER)):
            lines.append(f"{_tests(count)}: {reason}")
    return lines


def _tests(count: int) -> str:
    return f"{count} test" if count == 1 else f"{count} tests"


def _note(stats: dict[str, list[Any]]) -> dict[str, Any]:
    reasons: Counter[str] = Counter()
    for report in stats.get("skipped", []):
        words = report.longrepr[2] if isinstance(report.longrepr, tuple | list) else "no reason"
        matched = _REASON.match(str(words))
        assert matched is not None
        reasons[matched[2]] += 1
    failed = [report.nodeid for kind in ("failed", "error") for report in stats.get(kind, [])]
    return {"passed": len(stats.get("passed", [])), "failed": failed, "skipped": dict(reasons)}


def _report_earlier(terminalreporter: Any, earlier: dict[str, Any]) -> None:
    failed = earlier["failed"]
    terminalreporter.section("tests that ran alone, before these", bold=True)
    terminalreporter.line(f"{len(failed)} failed, {earlier['passed']} passed")
    for name in failed:
        terminalreporter.line(f"FAILED {name}", red=True)


def _report_repeated(terminalreporter: Any, note: dict[str, Any]) -> None:
    terminalreporter.section("tests that failed, run again one after another", bold=True)
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", [])]
    for name in passed:
        terminalreporter.line(f"UNSTABLE {name}: failed, then passed", yellow=True)
    for name in note["failed"]:
        terminalreporter.line(f"FAILED {name}: failed twice", red=True)
