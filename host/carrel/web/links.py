"""Shows where a page's links lead: by hosts that a person can judge.

A link's text is the author's choice. What it names and where it leads are compared, and a host is
shown in ASCII, so that letters of other scripts cannot pass for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from carrel.text.printable import printable

#: What is noted about a link that pretends.
NOTES: Final = (
    "text_names_another_host", "other_letters", "letters_that_look_alike", "user_name_before_host",
    "other_port", "address_in_place_of_a_name",
)  # fmt: skip
#: Hosts and links that an answer has.
MOST_HOSTS: Final = 20
MOST_LINKS: Final = 200
MOST_SUSPECT: Final = 20
#: Links of a page that are looked at.
_MOST: Final = 5000
#: Schemes of links that a reader may follow.
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "ftp"})
#: A host in a text, perhaps with a scheme.
_NAMED: Final = re.compile(
    r"(?:^|[\s(<\"'“„«])(?:https?://)?(?:[^\s/@]*@)?((?:[\w-]{1,63}\.)+[^\W\d_]{2,24})(?=[/:?#\s)>\"'”“»,.]|$)",
    re.IGNORECASE,
)
#: Endings of names of files, which look like hosts in a text.
_FILES: Final = frozenset(
    str.split(
        "html htm php asp aspx js ts py rs go rb java md txt pdf doc docx xls xlsx ppt pptx csv "
        "json xml yml yaml toml zip gz tar png jpg jpeg gif svg webp mp3 mp4 css sh exe dll so jsx "
        "tsx cpp"
    )
)
_ASCII_HOST: Final = re.compile(r"[a-z0-9._-]{1,253}")


def page_links(document: Mapping[str, Any], url: str, *, wanted: bool) -> dict[str, Any]:
    """Returns the members of an answer about a page's links.

    Args:
        document: of the page's reader.
        url: the page's address.
        wanted: whether the links are wanted, not only their hosts.
    """
    hosts: Counter[str] = Counter()
    links: list[dict[str, Any]] = []
    suspect: list[dict[str, Any]] = []
    for raw in document.get("links", ())[:_MOST]:
        link = _link(raw, url)
        if link is None:
            continue
        hosts[link["host"]] += 1
        if "notes" in link and len(suspect) < MOST_SUSPECT:
            suspect.append(link)
        if wanted and len(links) < MOST_LINKS:
            links.append(link)
    members: dict[str, Any] = {
        "link_hosts": [
            {"host": host, "links": count} for host, count in hosts.most_common(MOST_HOSTS)
        ],
        "suspect_links": suspect,
        "links": links,
    }
    return {name: value for name, value in members.items() if value}


def _link(raw: Mapping[str, Any], url: str) -> dict[str, Any] | None:
    href = "".join(str(raw.get("href", "")).split())
    try:
        address = urljoin(url, href)
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or (parts.scheme in {"http", "https", "ftp"} and not host):
        return None
    if parts.scheme in {"mailto", "tel"}:
        host = parts.path.rpartition("@")[2].partition("?")[0] or parts.scheme
    text = printable(str(raw.get("text", "")), 200)
    ascii_host, notes = shown_host(host)
    if parts.username is not None:
        notes.append("user_name_before_host")
    if port not in (None, 80, 443):
        notes.append("other_port")
    if re.fullmatch(r"[0-9.]+|\[.*\]|.*:.*", host):
        notes.append("address_in_place_of_a_name")
    named = named_host(text)
    if named is not None and not _is_same_site(named, ascii_host):
        notes.append("text_names_another_host")
    link: dict[str, Any] = {"host": ascii_host}
    if text:
        link["text"] = text
    link["url"] = printable(address, 500)
    if notes:
        link["notes"] = notes
    return link


def shown_host(host: str) -> tuple[str, list[str]]:
    """Returns a host in ASCII, and what a person should know of its letters."""
    host = host.lower().rstrip(".")
    notes: list[str] = []
    if _ASCII_HOST.fullmatch(host):
        labels = [_decoded(label) for label in host.split(".")]
    else:
        labels = unicodedata.normalize("NFKC", host).split(".")
    shown = ".".join(_encoded(label) for label in labels)
    if any(not label.isascii() for label in labels):
        notes.append("other_letters")
        if any(_mixes_scripts(label) for label in labels) or _imitates(labels):
            notes.append("letters_that_look_alike")
    return printable(shown, 253), notes


def named_host(text: str) -> str | None:
    """Returns the host that the text of a link names; None if it names none."""
    found = _NAMED.search(text)
    if found is None:
        return None
    host = found[1].lower()
    if host.rpartition(".")[2] in _FILES:
        return None
    return shown_host(host)[0]


def _is_same_site(a: str, b: str) -> bool:
    """Whether two hosts have a name in common that one of them is below."""
    a, b = a.removeprefix("www."), b.removeprefix("www.")
    if a == b or a.endswith(f".{b}") or b.endswith(f".{a}"):
        return True
    # Neighbours below a common name of three labels, such as a.example.co.uk; two are too few
    # where the second is a public suffix.
    common = [
        left for left, right in zip(_reversed(a), _reversed(b), strict=False) if left == right
    ]
    labels = 2 if len(common) > 1 and len(common[1]) > 3 else 3
    return _reversed(a)[:labels] == _reversed(b)[:labels]


def _reversed(host: str) -> list[str]:
    return host.split(".")[::-1]


def _decoded(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return label


def _encoded(label: str) -> str:
    if label.isascii():
        return label
    try:
        return "xn--" + label.encode("punycode").decode("ascii")
    except UnicodeError:
        return "".join(character if character.isascii() else "?" for character in label)


def _scripts(label: str) -> Iterator[str]:
    for character in label:
        if character.isalpha():
            # The first word of a character's name is its script: LATIN, CYRILLIC, CJK.
            yield unicodedata.name(character, "UNKNOWN").partition(" ")[0]


_JAPANESE: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})


def _mixes_scripts(label: str) -> bool:
    scripts = set(_scripts(label))
    if scripts & _JAPANESE:
        scripts -= _JAPANESE | {"LATIN"}
        return len(scripts) > 0 and scripts != {"HANGUL"}
    return len(scripts) > 1


#: Small letters that look like Latin ones.
_ALIKE: Final = frozenset("аеорсухіјѕһԁԛԝьгпмквтнɡαιοροντυκɑеоοѵⅼⅰ")


def _imitates(labels: list[str]) -> bool:
    """Whether a label has only letters that look like Latin ones."""
    for label in labels[:-1]:
        letters = [letter for letter in label if letter.isalpha()]
        if letters and not label.isascii() and all(letter in _ALIKE for letter in letters):
            return True
    return False
