"""Parses the project's Markdown pages: prose, tables, links, and code blocks.

A comment directly above a block says how the tests treat it:

    <!-- not run: REASON -->        shown only; a command that needs a network, for example
    <!-- terminal -->               its commands run on a terminal, not in a pipe
    <!-- file: NAME -->             written to NAME before the page's next commands run
    <!-- output -->                 what the Python snippet before it prints
    <!-- faulty -->                 a configuration that is refused
    <!-- not a configuration -->    JSON or TOML of another kind

In shown output, `…` matches any text within a line; alone on a line it matches any lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: The user whose files the pages show.
HOME = "/home/me"

_COMMENT = re.compile(
    r"<!-- (not run|terminal|file|output|faulty|not a configuration)(?:: (.+?))? -->"
)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        info: the text after the fence, such as `console`.
        line: of the fence, from 1.
        marks: the comments above it, with the text after the colon.
    """

    info: str
    text: str
    line: int
    marks: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        path: below the root.
        lines: of the prose; those of blocks are empty.
    """

    path: Path
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]

    @property
    def prose(self) -> str:
        return "\n".join(self.lines)

    @property
    def links(self) -> list[str]:
        text = re.sub(r"`[^`\n]*`", "", self.prose)
        return _LINK.findall(text)

    @property
    def anchors(self) -> set[str]:
        """Returns the anchors of links: headings, as GitHub spells them."""
        return {_slug(line.lstrip("#")) for line in self.lines if re.match(r"#{1,6} ", line)}

    def section(self, heading: str) -> Page:
        """Returns the part under a heading, subsections included.

        Raises:
            AssertionError: the page has no such heading.
        """
        starts = [i for i, line in enumerate(self.lines) if line.lstrip("#").strip() == heading]
        assert starts, f"{self.path} has no heading {heading!r}"
        first = starts[0]
        level = len(self.lines[first]) - len(self.lines[first].lstrip("#"))
        end = next(
            (
                i
                for i, line in enumerate(self.lines)
                if i > first and re.match(rf"#{{1,{level}}} ", line)
            ),
            len(self.lines),
        )
        blocks = tuple(block for block in self.blocks if first < block.line <= end)
        return Page(self.path, self.lines[first:end], blocks)

    def rows(self) -> list[list[str]]:
        """Returns the rows of all tables, without headings; cells without the marks of code."""
        rows = []
        for above, line in zip(("", *self.lines), self.lines, strict=False):
            if line.startswith("|") and above.startswith("|") and not _is_ruler(line):
                cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                rows.append([cell.replace("\\|", "|") for cell in cells])
        return rows

    def first_cells(self) -> list[str]:
        """Returns the code in the first cell of each row."""
        return [code for row in self.rows() for code in re.findall(r"`([^`]+)`", row[0])]

    def codes(self) -> set[str]:
        """Returns all inline code of the prose."""
        return set(re.findall(r"`([^`\n]+)`", self.prose))


def _is_ruler(line: str) -> bool:
    return set(line) <= set("|-: ")


def _slug(heading: str) -> str:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def read_page(path: Path) -> Page:
    """Returns the page at `path`, which is below the root."""
    prose: list[str] = []
    blocks: list[Block] = []
    marks: dict[str, str] = {}
    fence: Block | None = None
    for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), 1):
        if fence is not None:
            prose.append("")
            if line.strip() == "```":
                blocks.append(fence)
                fence = None
            else:
                fence = Block(fence.info, f"{fence.text}{line}\n", fence.line, fence.marks)
        elif line.startswith("```"):
            prose.append("")
            fence = Block(line[3:].strip(), "", number, marks)
            marks = {}
        else:
            prose.append(line)
            comment = _COMMENT.fullmatch(line.strip())
            if comment:
                marks[comment[1]] = comment[2] or ""
            elif line.strip():
                marks = {}
    assert fence is None, f"{path}: a block does not end"
    return Page(path, tuple(prose), tuple(blocks))


@cache
def pages() -> tuple[Page, ...]:
    """Returns the README and everything under docs."""
    paths = [Path("README.md"), *sorted(path for path in (ROOT / "docs").rglob("*.md"))]
    return tuple(
        read_page(path.relative_to(ROOT) if path.is_absolute() else path) for path in paths
    )


def page(name: str) -> Page:
    """Returns the page of that path."""
    return next(one for one in pages() if one.path == Path(name))


def shows(shown: str, real: str) -> bool:
    """Returns whether `real` matches the shown output, in which `…` matches any text."""
    wanted = [line.rstrip() for line in shown.strip("\n").splitlines()]
    found = [line.rstrip() for line in real.strip("\n").splitlines()]
    return re.fullmatch(_pattern(wanted), "".join(f"{line}\n" for line in found)) is not None


def _pattern(lines: list[str]) -> str:
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(re.escape(part) for part in line.split("…")) + r"\n")
    return "".join(parts)
