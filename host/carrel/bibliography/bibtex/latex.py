# ruff: noqa: RUF001, S105 - its characters look like others; its tokens are no passwords
r"""Decodes LaTeX in BibTeX values to the text of CSL-JSON.

Accents and symbols become characters, formatting becomes CSL's tags (`<i>`, `<b>`, `<sup>`,
`<sub>`, small capitals). A formula of signs and numbers (`$^{2}$`, `$\alpha$`) becomes text; one
with variables is kept between its dollars. Braces that protect capitals become `nocase` only where
a style would change a word: where one begins with a lower-case letter and has no capital. Unknown
commands without arguments are kept as they are written; of those with arguments, the arguments are.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from .latex_symbols import ACCENTS, MATH_SYMBOLS, SYMBOLS

_TOKEN = re.compile(
    r"\\[A-Za-z@]+\*?[ \t\n\r]*|\\\r?\n|\\.|[{}]|\$\$?|~|---?|``|''|`|[^\\{}$~`'-]+|'|-", re.DOTALL
)
_MATH_PARENTHESES = re.compile(r"(?<!\\)\\[()]")
_SPECIAL = re.compile(r"[\\{}$~`]|--|''")
_SPACE = re.compile(r"[ \t\n\r\f\v]+")
#: Command → opening and closing tag.
_TAGS: Final = {
    **dict.fromkeys(
        ("emph", "textit", "textsl", "mkbibemph", "mkbibitalic", "mathit", "it", "em", "sl",
         "itshape", "slshape", "bibemph"),
        ("<i>", "</i>"),
    ),
    **dict.fromkeys(
        ("textbf", "mkbibbold", "mathbf", "bf", "bfseries", "boldsymbol", "strong"),
        ("<b>", "</b>"),
    ),
    **dict.fromkeys(("textsuperscript", "mkbibsuperscript", "sp"), ("<sup>", "</sup>")),
    **dict.fromkeys(("textsubscript", "mkbibsubscript", "sb"), ("<sub>", "</sub>")),
    **dict.fromkeys(
        ("textsc", "sc", "scshape", "mkbibacro"),
        ('<span style="font-variant:small-caps;">', "</span>"),
    ),
    **dict.fromkeys(("enquote", "mkbibquote"), ("\u201c", "\u201d")),
    "mkbibparens": ("(", ")"),
    "mkbibbrackets": ("[", "]"),
}  # fmt: skip
#: Commands that hold to the end of their group.
_SWITCHES: Final = frozenset({"it", "em", "sl", "bf", "sc", "itshape", "slshape", "bfseries",
                              "scshape"})  # fmt: skip
#: Commands without meaning for the text.
_IGNORED: Final = frozenset({
    "relax", "rm", "tt", "sf", "normalfont", "rmfamily", "sffamily", "ttfamily", "upshape",
    "mdseries", "tiny", "scriptsize", "footnotesize", "small", "normalsize", "large", "Large",
    "protect", "left", "right", "displaystyle", "textstyle", "limits", "unskip",
    "ignorespaces", "allowbreak", "nolinkurl", "linebreak", "newblock", "hskip", "sloppy", "/",
    "bibstring", "leavevmode", "null", "-", "!", "selectlanguage", "cyr", "discretionary"
})  # fmt: skip
_SPACES: Final = frozenset({" ", "\n", "\t", "quad", "qquad", "space", "enspace", "newline", "par",
                            "\\", "enskip", "hfill", "\r", ";", ":", ">"})  # fmt: skip
_THIN: Final = frozenset({",", "thinspace"})
#: Commands whose argument is no text.
_WITHOUT_TEXT: Final = frozenset({"hspace", "vspace", "label", "phantom", "hphantom", "vphantom",
                                  "kern", "foreignlanguage", "textcolor", "color",
                                  "noopsort"})  # fmt: skip
_MATH_PLAIN = re.compile(r"[\d\s.,:;+\-*/=<>()\[\]|%!'°·×±–≤≥≈\u0302-\u0307]*")
_MATH_TOKEN = re.compile(
    r"\\([A-Za-z]+)\s*|\\(.)|([_^])\s*(?:\{([^{}]*)\}|\\([A-Za-z]+)\s*|(\S))|([{}])|([^\\_^{}]+)",
    re.DOTALL,
)
_MATH_ROMAN = re.compile(r"\{\\(?:rm|it|bf|sf)\s+([^{}\\]*)\}")
#: An accent over a digit or a named letter: a direction in a crystal, a word in Greek.
_MATH_ACCENT = re.compile(
    r"\\(acute|bar|breve|check|ddot|dot|grave|hat|overline|tilde)\s*(?:\{\s*(\\[A-Za-z]+|\d)\s*\}"
    r"|(\\[A-Za-z]+|\d)\s*)"
)
#: A letter that is no script's: a variable.
_VARIABLE = re.compile(r"(?<![_^{A-Za-z])[A-Za-z]")
_TEXT_COMMAND = re.compile(r"\\text\{([^{}\\]*)\}")
_MATH_TEXT = re.compile(
    r"\\(?:mathrm|mathit|mathbf|mathsf|text|textrm|mbox|ensuremath|rm|hbox)\s*\{([^{}]*)\}"
)
_MAX_DEPTH: Final = 60
#: A word that a style in title case would begin with a capital.
_LOWER_WORD = re.compile(r"(?<![\w'’])[^\W\d_A-Z][\w]*")


def decode_latex(source: str, *, title: bool = False) -> str:
    """Returns the text of a value in one line.

    Args:
        source: the value without its delimiters.
        title: keep the protection of capitals where a style would change a word.
    """
    if not _SPECIAL.search(source):
        return _SPACE.sub(" ", source).strip(" ")
    if "\\(" in source:
        source = _MATH_PARENTHESES.sub("$", source)
    if title:
        source = _without_outer_braces(source)
    tokens = _Tokens(source)
    pieces = [_read(tokens, title=title, depth=0)]
    while tokens.peek():  # a closing brace too many
        tokens.next()
        pieces.append(_read(tokens, title=title, depth=0))
    text = "".join(pieces)
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip(" ")


def unescape(source: str) -> str:
    r"""Returns a verbatim value, such as a DOI or URL, without the escapes that some write."""
    if "\\" not in source and "{" not in source and "$" not in source:
        return "".join(source.split())
    text = re.sub(r"\\url\s*\{(.*)\}", r"\1", source, flags=re.DOTALL)
    text = re.sub(r"\\href\s*\{([^{}]*)\}\s*\{.*\}", r"\1", text, flags=re.DOTALL)
    text = re.sub(r"\{?\\(?:textasciitilde|sim)\s*(?:\{\})?\}?|\\~\s*(?:\{\})?", "~", text)
    text = text.replace("$~$", "~").replace("{\\_}", "_")
    text = re.sub(r"\\(?:textunderscore|_)\s*(?:\{\})?", "_", text)
    text = re.sub(r"\\textbackslash\s*(?:\{\})?", "\\\\", text)
    text = re.sub(r"\\([%&#$^{}])", r"\1", text)
    text = re.sub(r"\\(?:discretionary\s*(?:\{[^{}]*\}\s*){3}|allowbreak|-|/)", "", text)
    return "".join(text.replace("{", "").replace("}", "").split())


def _without_outer_braces(source: str) -> str:
    """Returns a value without braces around the whole, which programs write to keep capitals."""
    text = source.strip()
    while text.startswith("{") and text.endswith("}") and not text.startswith("{\\"):
        depth = 0
        for position, character in enumerate(text):
            depth += (character == "{") - (character == "}")
            if depth == 0 and position < len(text) - 1:
                return text
        text = text[1:-1].strip()
    return text


class _Tokens:
    __slots__ = ("at", "found")

    def __init__(self, source: str) -> None:
        self.found = _TOKEN.findall(source)
        self.at = 0

    def peek(self) -> str:
        return self.found[self.at] if self.at < len(self.found) else ""

    def next(self) -> str:
        token: str = self.peek()
        self.at += 1
        return token


def _read(tokens: _Tokens, *, title: bool, depth: int) -> str:
    """Returns the text up to the end of the group, which is not consumed."""
    found, pieces, closing = tokens.found, [], ""
    while tokens.at < len(found):
        token = found[tokens.at]
        first = token[0]
        if first == "}":
            break
        tokens.at += 1
        if first == "{":
            pieces.append(_group(tokens, title=title, depth=depth))
        elif first == "\\" and len(token) > 1:
            name = token[1:].rstrip(" \t\n\r") or " "
            if name in _SWITCHES:
                before, after = _TAGS[name]
                pieces.append(before)
                closing = after + closing
            else:
                pieces.append(_command(tokens, name, token, title=title, depth=depth))
        elif first == "$":
            pieces.append(_formula(tokens, token))
        else:
            pieces.append(_PLAIN.get(token, token))
    pieces.append(closing)
    return "".join(pieces)


_PLAIN: Final = {
    "~": "\u00a0", "--": "\u2013", "---": "\u2014", "``": "\u201c", "''": "\u201d", "`": "\u2018",
}  # fmt: skip


def _group(tokens: _Tokens, *, title: bool, depth: int) -> str:
    """Returns the text of a group whose opening brace was consumed."""
    if depth > _MAX_DEPTH:
        return ""
    special = tokens.peek().startswith("\\")
    text = _read(tokens, title=False, depth=depth + 1)
    tokens.next()
    if title and not special and depth == 0 and _needs_protection(text):
        return f'<span class="nocase">{text}</span>'
    return text


def _needs_protection(text: str) -> bool:
    if "$" in text or "<span" in text:
        return False
    plain = re.sub(r"<[^<>]*>", "", text)
    return any(not re.search(r"[^\W\d_a-z]", word) or word.islower()
               for word in _LOWER_WORD.findall(plain) if word.islower())  # fmt: skip


def _command(tokens: _Tokens, name: str, token: str, *, title: bool, depth: int) -> str:
    name = name.rstrip("*") or name
    if name in ACCENTS and (len(name) > 1 or not name.isalpha() or _has_argument(tokens, token)):
        return _accented(tokens, ACCENTS[name], depth)
    if name in SYMBOLS:
        _skip_empty_group(tokens)
        return SYMBOLS[name]
    if name in MATH_SYMBOLS:
        _skip_empty_group(tokens)
        return MATH_SYMBOLS[name]
    if name in _TAGS:
        before, after = _TAGS[name]
        return before + _argument(tokens, depth, title=title) + after
    spaces = _space_of(name)
    if spaces is not None:
        return spaces
    if tokens.peek() == "{" and name[0].isalpha():
        return _with_arguments(tokens, name, depth)
    if not name[0].isalpha():
        return {"(": "$", ")": "$", "[": "$", "]": "$"}.get(name, name)
    return token.rstrip() if token[-1:].isspace() and not tokens.peek() else token


def _space_of(name: str) -> str | None:
    """Returns what a command for space or without meaning for the text is; None for others."""
    if name in _SPACES:
        return " "
    if name in _THIN:
        return "\u2009"
    return "" if name in _IGNORED else None


def _with_arguments(tokens: _Tokens, name: str, depth: int) -> str:
    """Returns what a command with an argument in braces means for the text."""
    if name in {"href", "url"}:
        target = _argument(tokens, depth)
        return _argument(tokens, depth) if name == "href" else target
    if name in {"symbol", "char"}:
        return _symbol(tokens, depth)
    if name in _WITHOUT_TEXT:
        _argument(tokens, depth)
        return _arguments(tokens, depth)
    if name in {"begin", "end"}:
        before, after = _TAGS.get(_argument(tokens, depth), ("", ""))
        return before if name == "begin" else after
    return _arguments(tokens, depth)


def _has_argument(tokens: _Tokens, token: str) -> bool:
    r"""Returns whether a one-letter accent is one: `\c c`, not the end of the text."""
    return bool(tokens.peek()) and (token[-1:].isspace() or tokens.peek()[0] in "{\\")


def _skip_empty_group(tokens: _Tokens) -> None:
    if tokens.peek() == "{" and tokens.found[tokens.at + 1 : tokens.at + 2] == ["}"]:
        tokens.at += 2


def _argument(tokens: _Tokens, depth: int, *, title: bool = False) -> str:
    _skip_spaces(tokens)
    token = tokens.peek()
    if token == "{":
        tokens.next()
        if depth > _MAX_DEPTH:
            return ""
        text = _read(tokens, title=title, depth=depth + 1)
        tokens.next()
        return text
    if not token or token == "}":
        return ""
    tokens.next()
    if token[0] == "\\" and len(token) > 1:
        return _command(tokens, token[1:].rstrip() or " ", token, title=False, depth=depth + 1)
    if len(token) > 1:  # an argument without braces is one character
        tokens.at -= 1
        tokens.found[tokens.at] = token[1:]
    return str(token[0])


def _skip_spaces(tokens: _Tokens) -> None:
    token = tokens.peek()
    if token and token[0].isspace():
        rest = token.lstrip()
        if rest:
            tokens.found[tokens.at] = rest
        else:
            tokens.next()


def _arguments(tokens: _Tokens, depth: int) -> str:
    found = []
    while tokens.peek() == "{":
        found.append(_argument(tokens, depth))
    return "".join(found)


def _accented(tokens: _Tokens, accent: str, depth: int) -> str:
    letter = _argument(tokens, depth)
    if not letter:
        return {"\u0303": "~", "\u0302": "^", "\u0308": "\u00a8"}.get(accent, "")
    first = {"ı": "i", "ȷ": "j"}.get(letter[0], letter[0])
    if accent == "\u0361" and len(letter) > 1:
        return first + accent + letter[1:]
    return unicodedata.normalize("NFC", first + accent) + letter[1:]


def _symbol(tokens: _Tokens, depth: int) -> str:
    text = _argument(tokens, depth).strip()
    number = int(text, 10) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    return chr(number) if 31 < number < 0xD800 else text


def _formula(tokens: _Tokens, opening: str) -> str:
    start = tokens.at
    try:
        end = tokens.found.index(opening, start)
    except ValueError:  # a lone dollar
        return opening
    source = "".join(tokens.found[start:end])
    tokens.at = end + 1
    text = _formula_as_text(source)
    return f"{opening}{source}{opening}" if text is None else text


def _formula_as_text(source: str) -> str | None:
    """Returns a formula without variables as text; None for others."""
    if "\\" not in source:
        if _VARIABLE.search(source):
            return None
        if _MATH_PLAIN.fullmatch(source):
            return source.strip()
    source = _MATH_ACCENT.sub(_accented_symbol, source)
    source = _MATH_ROMAN.sub(r"\\text{\1}", source)
    source = _MATH_TEXT.sub(lambda found: f"\\text{{{found[1]}}}", source)
    pieces: list[str] = []
    position = 0
    while position < len(source):
        words = _TEXT_COMMAND.match(source, position)
        if words:
            pieces.append(words[1])
            position = words.end()
            continue
        found = _MATH_TOKEN.match(source, position)
        piece = _formula_piece(found) if found else None
        if found is None or piece is None:
            return None
        pieces.append(piece)
        position = found.end()
    return "".join(pieces).strip()


def _accented_symbol(found: re.Match[str]) -> str:
    base = found[2] or found[3]
    letter = base if base.isdigit() else _math_symbol(base[1:])
    return f"\\text{{{letter}{ACCENTS[found[1]]}}}" if letter else found[0]


def _formula_piece(found: re.Match[str]) -> str | None:
    command, escaped, script, group, script_command, character, brace, plain = found.groups()
    if command is not None:
        return _math_symbol(command)
    if escaped is not None:
        return escaped if escaped in "%&#_{}" else ("" if escaped in ",;:! " else None)
    if brace is not None:
        return ""
    if script is None:
        return plain if _MATH_PLAIN.fullmatch(plain) else None
    inner = _script_text(group if group is not None else character, script_command)
    if inner is None:
        return None
    if script == "^" and inner in {"∘", "°"}:
        return "°"
    tag = "sup" if script == "^" else "sub"
    return f"<{tag}>{inner}</{tag}>"


def _script_text(source: str | None, command: str | None) -> str | None:
    if command is not None:
        return _math_symbol(command)
    text = re.sub(
        r"\\([A-Za-z]+)\s*", lambda match: _math_symbol(match[1]) or match[0], source or ""
    )
    return None if "\\" in text or "^" in text or "_" in text else text.strip()


def _math_symbol(name: str) -> str | None:
    if name in {"left", "right", "displaystyle", "rm", "limits"}:
        return ""
    return MATH_SYMBOLS.get(name) or SYMBOLS.get(name)
