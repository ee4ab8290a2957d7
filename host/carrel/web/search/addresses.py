"""Addresses of results: one spelling, what makes two the same, and the host for a person to judge.

A host in other letters is written in punycode. A person sees its letters only if they are of one
script, and do not all look like Latin ones.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from typing import Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

#: Parameters that follow a reader and do not choose the page.
_TRACKING: Final = re.compile(
    r"utm_\w+|mtm_\w+|pk_\w+|hsa_\w+|oly_\w+|vero_\w+|mc_[ce]id|gclid|gclsrc|dclid|gbraid|wbraid"
    r"|fbclid|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id|igshid|igsh|srsltid|_ga|_gl|_hsenc|_hsmi"
    r"|mkt_tok|s_cid|ref_src|ref_url|wt_mc|cmpid|ncid",
    re.IGNORECASE,
)
_HOST: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+")
#: Scripts that are written together.
_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
)
#: Letters of other scripts that look like Latin ones.
_LOOKALIKES: Final = frozenset(
    "\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043e\u0440\u051b\u0455"
    "\u0475\u0445\u0443\u051d\u043c\u0442\u043a\u0432\u043d\u0433\u043f\u0461"
    "\u03b1\u03b5\u03bd\u03b9\u03ba\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9"
    "\u0585\u057d\u0578\u0581\u0570\u056c"
)
#: First words of names of characters that belong to no script.
_COMMON: Final = frozenset({"DIGIT", "HYPHEN-MINUS", "MIDDLE", "COMBINING", "LOW"})


def ascii_host(host: str) -> str | None:
    """Returns a host in lower case and punycode; None if that is impossible."""
    host = host.strip().lower().removesuffix(".")
    if host.isascii():
        return host or None
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        return None


def canonical_url(url: str) -> str | None:
    """Returns the address of a page in one spelling, without tracking parameters.

    None if it is no address of the public web: another scheme, a user name, an address of a local
    network, a name without a dot.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in {"http", "https"} or "@" in parts.netloc or not parts.hostname:
        return None
    host = ascii_host(parts.hostname)
    if host is None or not _is_public(host):
        return None
    default = 443 if scheme == "https" else 80
    written = f"[{host}]" if ":" in host else host
    netloc = written if port in {None, default} else f"{written}:{port}"
    query = "&".join(
        parameter
        for parameter in parts.query.split("&")
        if parameter and not _TRACKING.fullmatch(parameter.split("=")[0])
    )
    # A fragment that marks a text is how a reader came to the page.
    fragment = parts.fragment.partition(":~:")[0]
    return urlunsplit(SplitResult(scheme, netloc, parts.path or "/", query, fragment))


def same_page(url: str) -> str:
    """Returns a key that is equal for addresses of one page.

    Scheme, `www.`, fragment, a slash at the end and the order of parameters do not count.
    """
    parts = urlsplit(url)
    host = parts.netloc.removeprefix("www.")
    query = "&".join(sorted(parts.query.split("&")))
    return f"{host}{parts.path.rstrip('/')}?{query}"


def host_of(url: str) -> str:
    """Returns the host of a canonical address, in punycode."""
    return urlsplit(url).hostname or ""


def display_link(host: str) -> str:
    """Returns a host, in punycode, as a person should see it."""
    labels = host.split(".")
    latin_top = not labels[-1].startswith("xn--")
    return ".".join(_shown(label, latin_top=latin_top) for label in labels)


def is_below(host: str, site: str) -> bool:
    """Whether a host is a site, or below it."""
    return host == site or host.endswith(f".{site}")


def _is_public(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        pass
    top = host.rpartition(".")[2]
    return bool(_HOST.fullmatch(host)) and not top.isdigit() and top not in {"local", "internal"}


def _shown(label: str, *, latin_top: bool) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        letters = label.encode("ascii").decode("idna")
    except UnicodeError:
        return label
    scripts = {_script(letter) for letter in letters} - {""}
    if "UNKNOWN" in scripts or not letters.isprintable():
        return label
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        return label
    foreign = [letter for letter in letters if letter.isalpha()]
    if latin_top and "LATIN" not in scripts and all(letter in _LOOKALIKES for letter in foreign):
        return label
    return letters


def _script(letter: str) -> str:
    """Returns the script of a character by the first word of its name; empty for common ones."""
    if letter.isascii():
        return "LATIN" if letter.isalpha() else ""
    first = unicodedata.name(letter, "UNKNOWN").split()[0]
    return "" if first in _COMMON else first
