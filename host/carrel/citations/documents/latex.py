r"""Finds citations in LaTeX: `\cite` and its relatives in natbib and biblatex.

Comments, verbatim text and what follows `\end{document}` are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from .cited import (
    Brackets,
    CitedKey,
    CitedWork,
    DocumentCitation,
    DocumentCitations,
    Places,
    blanked,
    blanks,
)
from .locators import read_locator

_COMMENT: Final = re.compile(r"(?<!\\)(?P<slashes>(?:\\\\)*)%[^\n]*")
_VERBATIM: Final = re.compile(
    r"\\begin\{(?P<env>verbatim\*?|Verbatim\*?|BVerbatim|LVerbatim|lstlisting|minted|comment|filecontents\*?)\}"
    r".*?(?:\\end\{(?P=env)\}|\Z)"
    r"|\\(?:verb|lstinline)\*?(?:\[[^\]]*\])?(?P<mark>[^\s\w*{])[^\n]*?(?P=mark)"
    r"|\\(?:url|nolinkurl|path|lstinline)\{(?:[^{}]|\{[^{}]*\})*\}",
    re.DOTALL,
)
_END: Final = re.compile(r"\\end\{document\}.*\Z", re.DOTALL)
#: Commands with the author in the sentence.
_TEXTUAL: Final = {"citet", "textcite", "citealt", "cites*", "textcites", "onlinecite"}
_AUTHOR: Final = {"citeauthor", "citeauthors"}
_YEAR: Final = {"citeyear", "citeyearpar", "citedate", "citeyears"}
_OTHERS: Final = {
    "cite", "citep", "citealp", "citenum", "citen", "citetitle", "citeurl", "citeA", "shortcite",
    "parencite", "autocite", "footcite", "footcitetext", "smartcite", "supercite", "fullcite",
    "footfullcite", "nocite", "notecite", "pnotecite", "fnotecite", "footnotecite", "citefield",
    "volcite", "pvolcite", "fvolcite", "ftvolcite", "tvolcite", "avolcite", "svolcite",
}  # fmt: skip
_SEVERAL: Final = {
    "cites", "parencites", "textcites", "autocites", "footcites", "footcitetexts", "smartcites",
    "supercites", "fullcites", "footfullcites",
}  # fmt: skip
_KNOWN: Final = _TEXTUAL | _AUTHOR | _YEAR | _OTHERS | _SEVERAL
#: A star leaves out the author in these; in natbib's commands it means all authors.
_STARRED: Final = {"cite", "parencite", "autocite"}
_COMMAND: Final = re.compile(r"(?<!\\)(?:\\\\)*\\(?P<name>[A-Za-z]*[cC]ite[A-Za-z]*)(?P<star>\*?)")
_BLANK: Final = re.compile(r"[ \t]*(?:\n[ \t]*)?")
_LETTERS: Final = ((r"\S", "§"), (r"\P", "¶"), (r"\&", "&"), (r"\%", "%"), (r"\_", "_"))


def latex_citations(text: str) -> DocumentCitations:
    """Returns what a LaTeX text cites."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._places = Places(text)
        text = blanked(text, _VERBATIM)
        text = _COMMENT.sub(
            lambda match: match["slashes"] + blanks(match[0][len(match["slashes"]) :]), text
        )
        self._text = blanked(text, _END)
        self._brackets = {pair[0]: Brackets(self._text, pair) for pair in ("()", "[]", "{}")}

    def read(self) -> DocumentCitations:
        citations: list[DocumentCitation] = []
        uncited: list[CitedKey] = []
        everything = False
        for match in _COMMAND.finditer(self._text):
            name = match["name"]
            plain = name[0].lower() + name[1:]
            if plain not in _KNOWN:
                continue
            works = list(self._works(plain, match.end()))
            if plain == "nocite":
                everything = everything or any(work.at.key == "*" for work in works)
                uncited += [work.at for work in works if work.at.key != "*"]
            elif works:
                citations.append(_styled(works, plain, starred=bool(match["star"])))
        return DocumentCitations(tuple(citations), tuple(uncited), everything)

    def _works(self, name: str, at: int) -> Iterator[CitedWork]:
        """Yields the works of a command whose arguments begin at an offset."""
        first = last = ""
        if name in _SEVERAL:
            (first, last), at = self._options(at, "()")
        if name.endswith("volcite"):
            yield from self._volume(at)
            return
        found: list[CitedWork] = []
        while True:
            (before, behind), start = self._options(at, "[]")
            if not self._opens(start):
                break
            close = self._closing(start)
            if close is None:
                break
            found += self._keys(start + 1, close, before, behind)
            at = close + 1
            if name not in _SEVERAL:
                break
        if found and first:
            found[0] = replace(found[0], prefix=f"{_plain(first)} {found[0].prefix}".rstrip() + " ")
        if found and last:
            found[-1] = replace(found[-1], suffix=f"{found[-1].suffix}, {_plain(last)}")
        yield from found

    def _volume(self, at: int) -> Iterator[CitedWork]:
        r"""Yields the works of `\volcite[before]{volume}[pages]{keys}`."""
        (before, behind), at = self._options(at, "[]")
        close = self._closing(at) if self._opens(at) else None
        if close is None:
            return
        volume = _plain(self._text[at + 1 : close])
        (_, pages), at = self._options(close + 1, "[]")
        end = self._closing(at) if self._opens(at) else None
        if end is None:
            return
        for work in self._keys(at + 1, end, before or behind, ""):
            suffix = f", {_plain(pages)}" if pages else ""
            yield replace(work, locator=volume, label="volume", suffix=suffix)

    def _options(self, at: int, pair: str) -> tuple[tuple[str, str], int]:
        """Returns the text before and behind, and the offset behind the options.

        A single option is the text behind.
        """
        found: list[str] = []
        while len(found) < 2:
            blank = _BLANK.match(self._text, at)
            start = blank.end() if blank else at
            if self._text[start : start + 1] != pair[0]:
                break
            close = self._closing(start)
            if close is None:
                break
            found.append(self._text[start + 1 : close])
            at = close + 1
        blank = _BLANK.match(self._text, at)
        [before, behind] = found if len(found) == 2 else ["", *(found or [""])]
        return (before, behind), blank.end() if blank else at

    def _closing(self, start: int) -> int | None:
        return self._brackets[self._text[start]].closing(start)

    def _opens(self, at: int) -> bool:
        return self._text[at : at + 1] == "{"

    def _keys(self, start: int, end: int, before: str, behind: str) -> list[CitedWork]:
        works = [
            CitedWork(self._places.key(match[0], start + match.start()))
            for match in re.finditer(r"[^,\s](?:[^,]*[^,\s])?", self._text[start:end])
            if "#" not in match[0] and "\\" not in match[0]  # an argument of a definition
        ]
        if works and before.strip():
            works[0] = replace(works[0], prefix=f"{_plain(before)} ")
        if works and behind.strip():
            locator, label, rest = read_locator(_plain(behind))
            if locator is None:
                rest = f", {rest.strip()}"
            works[-1] = replace(works[-1], locator=locator, label=label, suffix=rest.rstrip())
        return works


def _styled(works: list[CitedWork], name: str, *, starred: bool) -> DocumentCitation:
    if name in _AUTHOR:
        works = [replace(work, author_only=True) for work in works]
    elif name in _YEAR or (starred and name in _STARRED):
        works = [replace(work, suppress_author=True) for work in works]
    return DocumentCitation(tuple(works), name in _TEXTUAL)


def _plain(text: str) -> str:
    """Returns a short text without LaTeX's spellings."""
    text = re.sub(r"\\(?:emph|textit)\{([^{}]*)\}", r"<i>\1</i>", text)
    text = re.sub(r"\\textbf\{([^{}]*)\}", r"<b>\1</b>", text)
    for command, letter in _LETTERS:
        text = re.sub(
            rf"{re.escape(command)}(?![A-Za-z])\s*" if command[1].isalpha() else re.escape(command),
            letter,
            text,
        )
    text = re.sub(r"\\psqq?\b", "", text).replace("---", "\u2014").replace("--", "\u2013")
    text = re.sub(r"~|\\[,; ]", " ", text).replace("``", "“").replace("''", "”")
    return " ".join(text.replace("{", "").replace("}", "").split())
