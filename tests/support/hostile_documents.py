"""Makes hostile documents on demand, because some are too large for a repository."""

from __future__ import annotations

HEAD = (
    '<feed xmlns="http://www.w3.org/2005/Atom" '
    'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">'
)
_ENTRY = "<entry><id>http://arxiv.org/abs/2001.00001v1</id><title>{title}</title></entry>"
_LATIN1 = '<?xml version="1.0" encoding="ISO-8859-1"?>'
_UTF16 = '<?xml version="1.0" encoding="UTF-16"?>'
_UTF8 = '<?xml version="1.0" encoding="UTF-8"?>'
_UNKNOWN = '<?xml version="1.0" encoding="x-nonsense"?>'
_MIB = 2**20


def feed(title: str = "A title", *, declaration: str = "", count: int = 1) -> str:
    """Returns a feed of identical entries."""
    return f"{declaration}{HEAD}{_ENTRY.format(title=title) * count}</feed>"


def _entity_bomb() -> str:
    """Returns a feed with nine levels of ten entities: two billion characters if expanded."""
    levels = "".join(
        f'<!ENTITY l{level} "' + f"&l{level - 1};" * 10 + '">' for level in range(1, 10)
    )
    return feed("&l9;", declaration=f'<!DOCTYPE feed [<!ENTITY l0 "ha">{levels}]>')


def _quadratic_bomb() -> str:
    """Returns a feed with one long entity, used often."""
    head = '<!DOCTYPE feed [<!ENTITY long "' + "x" * 50_000 + '">]>'
    return feed("&long;" * 10_000, declaration=head)


def _external_entity() -> str:
    """Returns a feed with an external entity that names a file of the host."""
    head = '<!DOCTYPE feed [<!ENTITY file SYSTEM "file:///etc/passwd">]>'
    return feed("&file;", declaration=head)


def _attributes(count: int, pattern: str) -> str:
    words = " ".join(pattern.format(number) for number in range(count))
    return f"{HEAD}<entry {words}/></feed>"


#: Texts that must end as `invalid_document` (or a limit) with a position.
MALFORMED: dict[str, str] = {
    "empty": "",
    "white-space": " \n\t ",
    "prolog-only": '<?xml version="1.0" encoding="UTF-8"?>',
    "truncated-in-a-tag": feed()[:-3],
    "truncated-in-text": feed()[:170],
    "truncated-in-a-comment": HEAD + "<!-- never ends",
    "unclosed": HEAD,
    "crossed-tags": f"{HEAD}<entry><title>x</entry></title></feed>",
    "two-roots": feed() + feed(),
    "html": "<!DOCTYPE html><html><body><p>Service busy</body></html>",
    "json": '{"feed": []}',
    "plain-text": "Rate exceeded.",
    "other-xml": '<rss version="2.0"><channel/></rss>',
    "nul-inside": feed("a\0b"),
    "entity-bomb": _entity_bomb(),
    "quadratic-bomb": _quadratic_bomb(),
    "external-entity": _external_entity(),
    "deep": HEAD + "<entry>" * 100_000,
    "deep-closed": HEAD + "<a>" * 50_000 + "</a>" * 50_000 + "</feed>",
    "unclosed-angle-brackets": HEAD + "<" * 200_000,
    "many-attributes": _attributes(20_000, 'a{}="x"'),
    "many-namespaces": _attributes(5_000, 'xmlns:n{0}="u:{0}"'),
}

#: Bytes that are invalid in their declared encoding, or declare an unknown one.
UNDECODABLE: dict[str, bytes] = {
    "binary": bytes(range(256)) * 20,
    "not-utf-8": feed("caf\u00e9").encode("latin-1"),
    "declared-utf-8-is-latin-1": feed("caf\u00e9", declaration=_UTF8).encode("latin-1"),
    "unknown-encoding": feed(declaration=_UNKNOWN).encode(),
}

#: Unusual but valid: these must give a result with this title, None for any.
ODD: dict[str, tuple[bytes, str | None]] = {
    "latin-1": (feed("caf\u00e9", declaration=_LATIN1).encode("latin-1"), "café"),
    "utf-16": (feed("caf\u00e9", declaration=_UTF16).encode("utf-16"), "café"),
    "byte-order-mark": (b"\xef\xbb\xbf" + feed("caf\u00e9").encode(), "café"),
    # The declaration could be read as ASCII, so the document cannot have that encoding.
    "declared-utf-16-is-utf-8": (feed("caf\u00e9", declaration=_UTF16).encode(), "café"),
    "long-name": (f"{HEAD}<{'n' * _MIB}/></feed>".encode(), None),
    "many-references": (feed("&amp;" * 200_000).encode(), "&" * 200_000),
    "many-entries": (feed(count=30_000).encode(), "A title"),
}


def large_feed() -> bytes:
    """Returns ten megabytes of entries."""
    return feed("A title of some length. " * 40, count=10_000).encode()


def huge_text() -> bytes:
    """Returns a feed with a title of ten megabytes."""
    return feed("word " * 2_000_000).encode()
