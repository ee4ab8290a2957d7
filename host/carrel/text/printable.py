"""Escapes or removes hidden characters; `docs/reference/characters.md` has the rule.

*Hidden characters* are control characters, and invisible ones that reorder or hide text. In JSON
they are escaped, so that its value is unchanged and its bytes cannot affect a terminal or a log.
From texts for people they are removed.
"""

from __future__ import annotations

import re
from typing import overload

#: Control characters, line and paragraph separators, which can forge a line or move the cursor.
_CONTROLS = "\x00-\x1f\x7f-\x9f\u2028\u2029"

#: Invisible characters that no reader would miss: Bidi_Control, which reorders text; the zero-width
#: space, word joiner and byte order mark; those without a glyph (invisible operators,
#: fillers, inherent vowels of Khmer, format controls of annotations, shorthand and music); and
#: plane 14 but for its variation selectors, tag characters above all.
_INVISIBLE = (
    "\u061c\u115f\u1160\u17b4\u17b5\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    "\U000e01f0-\U000e0fff"
)

#: Joiners, which Persian, Indic scripts and emoji need, and variation selectors. A second one of a
#: kind directly behind the first has no use, and a run of them can spell a text.
_JOINERS, _SELECTORS = "\u200c\u200d", "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_REPEATED = f"(?<=[{_JOINERS}])[{_JOINERS}]|(?<=[{_SELECTORS}])[{_SELECTORS}]"

#: In valid JSON a line feed or a tab is only between tokens. UTF-8 has no lone surrogates.
_HIDDEN_IN_JSON = f"(?![\\t\\n])[{_CONTROLS}]|[{_INVISIBLE}\ud800-\udfff]|{_REPEATED}"

# The same in UTF-8 by leading byte. A byte is searched for thirty times as fast as a class of
# bytes, and most documents lack most of these.
_SELECTOR = rb"(?:\xef\xb8[\x80-\x8f]|\xf3\xa0(?:[\x84-\x86][\x80-\xbf]|\x87[\x80-\xaf]))"
_BY_LEAD = {
    b"\xc2": rb"\xc2[\x80-\x9f]",
    b"\xd8": rb"\xd8\x9c",
    b"\xe1": rb"\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5])",
    b"\xe2": rb"\xe2(?:\x80(?:[\x8b\x8e\x8f\xa8-\xae]|[\x8c\x8d]\xe2\x80[\x8c\x8d])"
    rb"|\x81[\xa0-\xaf])",
    b"\xe3": rb"\xe3\x85\xa4",
    b"\xed": rb"\xed[\xa0-\xbf]",
    b"\xef": rb"\xef(?:\xbb\xbf|\xbe\xa0|\xbf[\xb0-\xbb]|\xb8[\x80-\x8f]" + _SELECTOR + rb")",
    b"\xf0": rb"\xf0(?:\x9b\xb2[\xa0-\xa3]|\x9d\x85[\xb3-\xba])",
    b"\xf3": rb"\xf3\xa0(?:[\x80-\x83\x88-\xbf]|\x87[\xb0-\xbf]|[\x84-\x87][\x80-\xbf]"
    + _SELECTOR
    + rb")",
}
#: Bytes that are scanned together, few enough to stay in the CPU cache.
_PIECE = 2**15
#: Number of occurrences of a leading byte above which its pattern is searched for.
_FEW = 6


def printable(text: str, limit: int = 500) -> str:
    """Returns a text on one line, cut to `limit` characters.

    Replaces control characters by spaces and drops other hidden characters.
    """
    clean = text[: limit + 1]
    if not (clean.isascii() and clean.isprintable()):
        clean = _visible(re.sub(f"[{_CONTROLS}]", " ", clean))
    return clean if len(text) <= limit else clean[:limit] + "…"


def printable_lines(text: str) -> str:
    """Returns a text without hidden characters, except line feeds and tabs."""
    return _visible(re.sub(f"(?![\\t\\n])[{_CONTROLS}]", " ", text))


def _visible(text: str) -> str:
    return text if text.isascii() else re.sub(f"[{_INVISIBLE}]|{_REPEATED}", "", text)


@overload
def escaped_json(text: bytes) -> bytes: ...
@overload
def escaped_json(text: memoryview) -> bytes | memoryview: ...
def escaped_json(text: bytes | memoryview) -> bytes | memoryview:
    """Returns a JSON text of the same value with hidden characters escaped.

    Scans the text without parsing it: in valid JSON, hidden characters occur only in strings,
    except carriage returns between tokens, which become spaces.

    Args:
        text: in UTF-8, possibly with lone surrogates. Returned itself if it has no hidden
            characters.
    """
    pieces: list[bytes | memoryview] = []
    copied = start = 0
    view = memoryview(text)
    while start < len(view):
        end = _piece_end(view, start + _PIECE)
        piece = bytes(view[start:end])
        if _hides(piece):
            written = escaped_json_text(piece.decode("utf-8", "surrogatepass"))
            pieces += [view[copied:start], written.encode()]
            copied = end
        start = end
    return b"".join((*pieces, view[copied:])) if pieces else text


def escaped_json_text(text: str) -> str:
    """Returns the same as `escaped_json`, for a `str`."""
    return re.sub(_HIDDEN_IN_JSON, _escape, text)


def _piece_end(view: memoryview, end: int) -> int:
    """Returns the next offset that does not split a character or a run of joiners or selectors."""
    found = re.compile(rb"[\x00-\x7f]").search(view, end)
    return found.start() if found else len(view)


def _hides(piece: bytes) -> bool:
    """Returns whether a piece of a JSON text has hidden characters."""
    if b"\x7f" in piece or b"\r" in piece:
        return True
    return not piece.isascii() and any(
        _finds(piece, lead, pattern) for lead, pattern in _BY_LEAD.items()
    )


def _finds(piece: bytes, lead: bytes, pattern: bytes) -> bool:
    at = piece.find(lead)
    if at < 0:
        return False
    hidden = re.compile(pattern)
    for _ in range(_FEW):
        if hidden.match(piece, at):
            return True
        at = piece.find(lead, at + 1)
        if at < 0:
            return False
    return hidden.search(piece, at) is not None


def _escape(found: re.Match[str]) -> str:
    if found[0] == "\r":
        return " "
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
