r"""Finds citations in Pandoc's Markdown.

    @key says; @key [p. 3]; [@key]; [see @a, pp. 3-5; -@b]; @{a key with blanks}

Code, comments, formulas, addresses and e-mail addresses are left alone, as is `\@key`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .cited import (
    Brackets,
    CitedWork,
    DocumentCitation,
    DocumentCitations,
    Places,
    blanked,
    blanks,
    split_top,
)
from .locators import read_locator

_FENCED: Final = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n"
    r"(?:.*?\n)??[ \t>]*(?P=fence)[`~]*[ \t]*$"
    r"|^[ \t>]*(?P<open>`{3,}|~{3,})[^`\n]*\n.*\Z",
    re.MULTILINE | re.DOTALL,
)
_CODE: Final = re.compile(
    r"(?<![`\\])(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)", re.DOTALL
)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MATH: Final = re.compile(
    r"(?<!\\)\$\$.+?\$\$|(?<![\\$])\$(?=[^\s$])[^$\n]*?(?<=[^\s\\])\$(?![\d$])", re.DOTALL
)
_ADDRESS: Final = re.compile(
    r"(?<!@\{)\b(?:https?|ftp)://[^\s<>)\]]+"  # an address in the text
    r"|<[A-Za-z][A-Za-z0-9.+-]*:[^\s<>]*>"  # <scheme:address>
    r"|</?[A-Za-z][^<>]*>"  # an HTML tag
    r"|(?<=\]\()[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?(?=\))"  # [text](address)
    r"|^[ \t]{0,3}\[[^\]\n]+\]:[ \t]*\S+",  # [text]: address
    re.MULTILINE,
)
_LIST: Final = re.compile(
    r"[ ]{0,3}(?:[-+*]|\d+[.)]|[a-zA-Z][.)]|\(@?\w*\)|\(?#\.\)?|:|~|\[\^[^\]]+\]:)[ \t]"
)
_METADATA: Final = re.compile(r"\A---[ \t]*\n.*?^(?:---|\.\.\.)[ \t]*$", re.MULTILINE | re.DOTALL)
_NOCITE: Final = re.compile(r"^nocite:.*\n?(?:^(?:[ \t-].*)?\n)*", re.MULTILINE)
_KEY: Final = re.compile(
    r"(?<![\w\\@])(?P<minus>-?)(?<![^\W_]-)@(?:\{(?P<braced>[^{}\n]+)\}|(?P<plain>\w+(?:[:.#$%&\-+?<>~/]\w+)*)|(?P<all>\*))"
)
_EXAMPLE: Final = re.compile(r"^\(@(?P<name>[\w-]+)\)[ \t]", re.MULTILINE)
_BARE: Final = re.compile(r"[ \t]*(?:\n[ \t]*)?\[(?!\^)")
_ANCHOR: Final = re.compile(
    r"\{[^{}\n]*#(?P<id>[\w:.-]+)[^{}\n]*\}|^#\|[ \t]*label:[ \t]*(?P<cell>[\w:.-]+)", re.MULTILINE
)


def markdown_citations(text: str) -> DocumentCitations:
    """Returns what a Markdown text cites."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._places = Places(text)
        #: Identifiers of figures, tables and examples, which `@fig:lamp` refers to.
        self._anchors = {match["id"] or match["cell"] for match in _ANCHOR.finditer(text)}
        self._anchors |= {match["name"] for match in _EXAMPLE.finditer(text)}
        metadata = _METADATA.match(text)
        nocite = _NOCITE.search(text, 0, metadata.end()) if metadata else None
        self._uncited = blanks(text[: nocite.start()]) + nocite[0] if nocite else ""
        if nocite:
            text = text[: nocite.start()] + blanks(nocite[0]) + text[nocite.end() :]
        self._text = _without_code(text, metadata.end() if metadata else 0)
        self._brackets = Brackets(self._text, "[]")

    def read(self) -> DocumentCitations:
        keys = list(_KEY.finditer(self._uncited))
        return DocumentCitations(
            tuple(self._citations(0, len(self._text))),
            tuple(
                self._places.key(_name(match), match.start()) for match in keys if not match["all"]
            ),
            any(match["all"] for match in keys),
        )

    def _citations(self, start: int, end: int) -> Iterator[DocumentCitation]:
        """Yields the citations between two offsets."""
        at = start
        while at < end:
            bracket, key = self._text.find("[", at, end), self._key(at, end)
            if key is None:
                return
            if 0 <= bracket < key.start() and not self._escaped(bracket):
                close = self._brackets.closing(bracket)
                if close is None or close >= end:
                    at = bracket + 1
                    continue
                grouped = self._group(bracket + 1, close)
                if grouped is None:
                    yield from self._citations(bracket + 1, close)
                else:
                    yield DocumentCitation(tuple(grouped))
                at = close + 1
            elif 0 <= bracket < key.start():
                at = bracket + 1
            else:
                citation, at = self._in_text(key, end)
                yield citation

    def _key(self, start: int, end: int) -> re.Match[str] | None:
        """Returns the next key; references to figures of the same text are none."""
        for match in _KEY.finditer(self._text, start, end):
            if not (match["all"] or _name(match) in self._anchors):
                return match
        return None

    def _group(self, start: int, end: int) -> list[CitedWork] | None:
        """Returns the works between brackets; None if they are not a citation."""
        text = self._text
        note = text[start : start + 1] == "^" or text[max(start - 2, 0) : start - 1] == "^"
        if note or text[end + 1 : end + 2] in {"(", "["}:
            return None
        works = []
        for offset, part in split_top(text[start:end], ";", ("[]", "{}")):
            first = start + offset
            key = self._key(first, first + len(part))
            if key is None or _nested(text[first : key.start()]):
                return None
            works.append(
                self._work(key, text[first : key.start()], text[key.end() : first + len(part)])
            )
        return works

    def _in_text(self, key: re.Match[str], end: int) -> tuple[DocumentCitation, int]:
        """Returns a citation whose author is in the sentence, and its end."""
        suppressed = bool(key["minus"])
        at = _BARE.match(self._text, key.end(), end)
        close = self._brackets.closing(at.end() - 1) if at else None
        if at is None or close is None or self._text[close + 1 : close + 2] in {"(", "[", ":"}:
            return DocumentCitation((self._work(key),), not suppressed), key.end()
        [first, *rest] = split_top(self._text[at.end() : close], ";", ("[]", "{}"))
        if "@" in first[1]:
            return DocumentCitation((self._work(key),), not suppressed), key.end()
        works = [self._work(key, "", "," + first[1])]
        for offset, part in rest:
            start = at.end() + offset
            next_key = self._key(start, start + len(part))
            if next_key is None:
                return DocumentCitation((self._work(key),), not suppressed), key.end()
            behind = self._text[next_key.end() : start + len(part)]
            works.append(self._work(next_key, self._text[start : next_key.start()], behind))
        return DocumentCitation(tuple(works), not suppressed), close + 1

    def _work(self, key: re.Match[str], prefix: str = "", behind: str = "") -> CitedWork:
        locator, label, rest = read_locator(behind)
        rest = rest.rstrip()
        return CitedWork(
            self._places.key(_name(key), key.start() + len(key["minus"])),
            locator,
            label,
            _rich(prefix.lstrip()),
            "" if rest.strip(" \n,") == "" else _rich(rest),
            bool(key["minus"]),
        )

    def _escaped(self, offset: int) -> bool:
        before = len(self._text[:offset]) - len(self._text[:offset].rstrip("\\"))
        return before % 2 == 1


def _nested(before: str) -> bool:
    """Returns whether a text ends inside of brackets."""
    return before.count("[") > before.count("]")


def _name(match: re.Match[str]) -> str:
    return str(match["braced"] or match["plain"] or match["all"])


def _rich(text: str) -> str:
    """Converts emphasis to the tags that CSL has, and line breaks to blanks."""
    text = re.sub(r"\*\*(\S[^*]*)\*\*", r"<b>\1</b>", " ".join(re.split(r"\s*\n\s*", text)))
    text = re.sub(r"(?<!\w)([*_])(\S[^*_]*)\1(?!\w)", r"<i>\2</i>", text)
    return re.sub(r"\\([^\w\s])", r"\1", text)


def _without_code(text: str, start: int) -> str:
    """Replaces all that is not prose by blanks; offsets stay."""
    text = blanked(text, _FENCED)
    text = _without_indented_code(text, start)
    for pattern in (_CODE, _COMMENT, _MATH, _ADDRESS):
        text = blanked(text, pattern)
    return text


def _without_indented_code(text: str, start: int) -> str:
    """Replaces indented code; indented lines behind a list item belong to the list."""
    lines, blank, listed, code, offset = [], True, False, False, 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        indented = line.startswith(("    ", "\t"))
        if not bare:
            blank = True
        else:
            if not indented:
                listed = bool(_LIST.match(line)) or (listed and not blank)
            code = indented and offset >= start and not listed and (blank or code)
            blank = False
        lines.append(blanks(line) if bare and code else line)
        offset += len(line)
    return "".join(lines)
