"""Tests that links resolve, lines are short and every page is in the index."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.pages import ROOT, Page, page, pages, read_page

#: Files that `carrel plugin new` writes.
NEW_PROJECT = ROOT / "host" / "carrel" / "authoring" / "templates" / "rust"
#: Lines of prose stay within this, so that changes read well; tables and links cannot be wrapped.
WIDTH = 120

every_page = pytest.mark.parametrize("one", pages(), ids=lambda one: one.path.as_posix())


@every_page
def test_links_lead_to_a_page_and_its_heading(one: Page) -> None:
    broken = []
    for link in one.links:
        if re.match(r"[a-z]+:", link):
            continue
        target, _, anchor = link.partition("#")
        file = (ROOT / one.path.parent / target).resolve() if target else ROOT / one.path
        if not file.exists() or (
            anchor and anchor not in read_page(file.relative_to(ROOT)).anchors
        ):
            broken.append(link)
    assert broken == []


# The older decisions have longer lines.
@pytest.mark.parametrize(
    "one",
    [
        one
        for one in pages()
        if not re.search(r"decisions/(000[1-6]|001\d|README)", one.path.as_posix())
    ],
    ids=lambda one: one.path.as_posix(),
)
def test_prose_is_wrapped(one: Page) -> None:
    long = [
        number
        for number, line in enumerate(one.lines, 1)
        if len(line) > WIDTH and not line.startswith("|") and " " in line.strip()
    ]
    assert long == []


@every_page
def test_code_blocks_name_their_language(one: Page) -> None:
    known = {"console", "python", "toml", "json", "jsonc", "text", "rust", "mermaid", "xml", "yaml"}
    assert [block.line for block in one.blocks if block.info not in known] == []


@every_page
def test_files_that_are_named_exist(one: Page) -> None:
    """Checks paths that name a folder: relative to the root or to the package."""
    text = one.prose + "".join(block.text for block in one.blocks if block.info == "mermaid")
    text = re.sub(r"<!-- file: .*? -->", "", text)  # files that the reader of the page writes
    named = set(
        re.findall(r"(?<![\w/.:~-])((?:[\w-]+/)+[\w-]+\.(?:py|rs|wit|md|json|lock))\b", text)
    )
    bases = (
        ROOT,
        ROOT / "host" / "carrel",
        ROOT / one.path.parent,
        ROOT / "plugins" / "arxiv",
        NEW_PROJECT,
    )
    assert [
        name for name in sorted(named) if not any((base / name).exists() for base in bases)
    ] == []


def test_every_page_is_in_the_index() -> None:
    index = page("docs/README.md")
    linked = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in index.links}
    own = {
        (ROOT / one.path).resolve()
        for one in pages()
        if one.path.parts[0] == "docs" and one.path.parent.name != "decisions"
    } - {ROOT / "docs" / "README.md"}
    assert own - linked == set()


def test_every_decision_is_in_its_list() -> None:
    listed = [link for link in page("docs/decisions/README.md").links if link.endswith(".md")]
    there = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("0*.md"))
    assert listed == there


def test_a_decision_has_the_title_that_the_list_gives_it() -> None:
    for number, title in page("docs/decisions/README.md").rows():
        short = re.findall(r"\[(\d{4})\]\(([^)]+)\)", number)[0]
        decision = page(f"docs/decisions/{short[1]}")
        assert decision.lines[0] == f"# {short[0]} {title}"


def test_the_readme_is_short_and_in_its_order() -> None:
    readme = page("README.md")
    assert len(readme.lines) < 150
    headings = [line[3:] for line in readme.lines if line.startswith("## ")]
    assert headings == [
        "Quickstart",
        "Tools",
        "Settings",
        "How it works",
        "Write a plugin",
        "Run other people's plugins",
        "What it does not do",
        "Licence",
    ]


def test_the_readme_s_commands_are_those_of_ci() -> None:
    commands = [
        line.removeprefix("$ ")
        for block in page("README.md").section("Quickstart").blocks
        if block.info == "console"
        for line in block.text.splitlines()
        if line.startswith("$ ")
    ]
    assert commands == [
        "python3 scripts/try.py",
        "python3 scripts/test.py",
        "python3 scripts/try.py --offline",
    ]
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert '"$python" scripts/test.py' in ci
    assert all((ROOT / command.split()[1]).exists() for command in commands)


def test_pages_contain_no_local_paths_and_no_todos() -> None:
    texts = {one.path: one.prose + "".join(block.text for block in one.blocks) for one in pages()}
    foreign = re.compile(r"(?<!\w)(/tmp/|/root/|/work/|/opt/|/var/)|\bTODO\b|\bFIXME\b", re.ASCII)
    assert [str(path) for path, text in texts.items() if foreign.search(text)] == []


def test_the_glossary_defines_each_word_once() -> None:
    words = re.findall(r"^\*\*(.+?)\*\*", page("docs/glossary.md").prose, re.MULTILINE)
    assert words == sorted(words, key=str.lower)
    assert len(words) == len(set(words))
    needed = {"host", "guest", "plugin", "instance", "tool", "source", "record", "client", "origin"}
    needed |= {"store", "trap", "fuel", "epoch deadline", "linear memory", "fetch", "grant"}
    assert needed - set(words) == set()
    assert Path("docs/glossary.md") in {one.path for one in pages()}
