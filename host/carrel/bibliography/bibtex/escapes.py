r"""Escapes text for BibTeX values.

A value is between braces, in one line. Braces of a text are written as commands, so that those of
the record balance; `\ % & # _ $ ~ ^` are escaped. Formulas between dollars are kept if their braces
balance. DOIs and URLs are verbatim, as the styles that link them expect, without braces. CSL's
tags become commands.
"""

from __future__ import annotations

import re
from typing import Final

from carrel.bibliography.texts import one_line

_ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "%": r"\%",
    "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "`": r"\textasciigrave{}", "\u00a0": "~", "\u2009": r"\,",
}  # fmt: skip
_SPECIAL = re.compile("[\\\\{}%&#_$~^`\u00a0\u2009]|''+|--+")
#: A formula: no space behind the first dollar and before the last, no digit behind that.
_FORMULA = re.compile(r"(?<!\\)\$(?=[^\s$])[^$]*(?<=[^\s\\])\$(?!\d)")
_PERCENT = re.compile(r"(?<!\\)%")
#: Words whose capitals a style must not change.
_CAPITALS = re.compile(r"\b\w+[A-Z]\w*\b")
_CAPITALIZED = re.compile(r"\b(?:[^\W\d_a-z]\w*|\w+[A-Z]\w*)\b")
#: Longer words that title case begins with a small letter.
_SMALL_WORDS: Final = frozenset({
    "about", "above", "after", "against", "along", "among", "around", "before", "behind", "below",
    "between", "beyond", "during", "from", "into", "like", "near", "onto", "over", "since", "than",
    "that", "through", "toward", "towards", "under", "until", "upon", "versus", "when", "with",
    "within", "without",
})  # fmt: skip
_NOT_VERBATIM = re.compile(r'[{}\\\s"<>^`|]')
_TAG = re.compile(
    r"<(/?)(i|b|sup|sub|sc)>|<span style=\"font-variant: ?small-caps;?\">|<span class=\"nocase\">"
    r"|</span>"
)
_COMMANDS: Final = {
    "i": r"\textit{", "b": r"\textbf{", "sup": r"\textsuperscript{", "sub": r"\textsubscript{",
    "sc": r"\textsc{",
}  # fmt: skip


def escaped(text: str, *, title: bool = False) -> str:
    """Returns a text as a value.

    Args:
        text: with CSL's tags.
        title: whether words with capitals are protected from styles that change them.
    """
    line = one_line(text)
    protect = _protected(line) if title else None
    if "<" not in line:
        return _with_formulas(line, protect)
    return _with_tags(line, protect)


def _with_tags(line: str, protect: re.Pattern[str] | None) -> str:
    """Returns a text whose tags are commands; those that are not paired are plain text."""
    pieces: list[str] = []
    open_tags: list[tuple[str, int, str]] = []  # name, its piece, its source
    position = 0
    for tag in _TAG.finditer(line):
        name, closing, command = _tag(tag)
        if closing and (not open_tags or open_tags[-1][0] != name):
            continue
        pieces.append(
            _with_formulas(line[position : tag.start()], None if _inside(open_tags) else protect)
        )
        position = tag.end()
        if closing:
            open_tags.pop()
            pieces.append("}")
        else:
            open_tags.append((name, len(pieces), tag[0]))
            pieces.append(command)
    pieces.append(_with_formulas(line[position:], None if _inside(open_tags) else protect))
    for _, index, source in open_tags:
        pieces[index] = _plain(source, None)
    return "".join(pieces)


def _inside(open_tags: list[tuple[str, int, str]]) -> bool:
    return any(source.endswith('"nocase">') for _, _, source in open_tags)


def _tag(tag: re.Match[str]) -> tuple[str, bool, str]:
    if tag[2]:
        return tag[2], bool(tag[1]), _COMMANDS[tag[2]]
    if tag[0] == "</span>":
        return "span", True, ""
    return "span", False, "{" if "nocase" in tag[0] else _COMMANDS["sc"]


def _protected(line: str) -> re.Pattern[str]:
    """Returns which words of a title are protected.

    In a title in title case only those with capitals inside; in others all with capitals, because
    they are names.
    """
    words = re.findall(r"[^\W\d_]+", re.sub(r"<[^<>]*>", "", line))[1:]
    significant = [word for word in words if len(word) > 3 and word not in _SMALL_WORDS]
    small = sum(word.islower() for word in significant)
    return _CAPITALIZED if 0 < small >= (len(significant) - small) / 2 else _CAPITALS


def _with_formulas(line: str, protect: re.Pattern[str] | None) -> str:
    if "$" not in line:
        return _plain(line, protect)
    pieces: list[str] = []
    end = 0
    for formula in _FORMULA.finditer(line):
        if not balanced(formula[0]):
            continue
        pieces.append(_plain(line[end : formula.start()], protect))
        pieces.append(_PERCENT.sub(r"\\%", formula[0]))
        end = formula.end()
    pieces.append(_plain(line[end:], protect))
    return "".join(pieces)


def _plain(text: str, protect: re.Pattern[str] | None) -> str:
    if protect is None:
        return _SPECIAL.sub(_escape, text)
    end = 0
    pieces = []
    for word in protect.finditer(text):
        pieces.append(_SPECIAL.sub(_escape, text[end : word.start()]))
        escaped_word = _SPECIAL.sub(_escape, word[0])
        bare = word[0].islower() or (_starts_line(text, word) and word[0][1:].islower())
        pieces.append(escaped_word if bare else f"{{{escaped_word}}}")
        end = word.end()
    pieces.append(_SPECIAL.sub(_escape, text[end:]))
    return "".join(pieces)


def _starts_line(text: str, word: re.Match[str]) -> bool:
    """Returns whether a word begins the title or what is behind a colon, where styles keep it."""
    before = text[: word.start()].rstrip()
    return not before or before[-1] in ":.?!"


def _escape(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) > 1:  # a ligature of LaTeX: `--` is a dash, `''` a quote
        return "{}".join(text)
    return _ESCAPES[text]


def balanced(text: str) -> bool:
    """Returns whether braces balance, as BibTeX counts them: one behind a backslash counts too."""
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0


def verbatim(text: str, *, keep: str = "") -> str:
    """Returns a DOI or URL with what would end the value percent-encoded."""

    def encoded(found: re.Match[str]) -> str:
        return found[0] if found[0] in keep else f"%{ord(found[0]):02X}"

    return _NOT_VERBATIM.sub(encoded, one_line(text))
