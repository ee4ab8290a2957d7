"""Tests that the commands of people and of CI agree and are documented."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def test_contributing_lists_the_commands_that_need_no_setup() -> None:
    text = read("CONTRIBUTING.md")
    for command in ("scripts/try.py", "scripts/try.py --offline", "scripts/test.py"):
        assert f"python3 {command}" in text
        assert (ROOT / command.split()[0]).is_file()


def test_ci_ends_with_the_readme_s_test_command_for_all_tests() -> None:
    last = read(".ci/run").splitlines()[-1]
    assert last == '"$python" scripts/test.py --all --sample --durations=40'
    assert "python3 scripts/test.py --all --sample" in read("CONTRIBUTING.md")


def test_every_recipe_has_a_comment() -> None:
    lines = read("justfile").splitlines()
    recipes = {
        line.split()[0].rstrip(":"): above
        for above, line in pairwise(lines)
        if re.match(r"[a-z][a-z-]*( [a-z*]+)*:( |$)", line)
    }
    promised = "setup build wasm test lint fix types check record fuzz docs serve bench clean"
    assert set(promised.split()) <= set(recipes)
    assert [name for name, above in recipes.items() if not above.startswith("# ")] == []


def test_actions_are_pinned_and_may_only_read() -> None:
    workflow = read(".github/workflows/ci.yml")
    used = re.findall(r"uses: (\S+)", workflow)
    assert used
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []
    assert re.findall(r"^permissions:\n((?:  .+\n)+)", workflow, re.MULTILINE) == [
        "  contents: read\n"
    ]
