"""Reads captured pages with their true text, and runs programs that extract it.

The corpus is outside the repository (`../shared/corpus/html`); without it the rows say so. Nothing
of these pages is in the repository.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .scores import Snippets

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "html"
#: Block elements.
_BLOCKS = frozenset(
    (
        "p", "div", "br", "li", "ul", "ol", "h1", "h2", "h3", "h4", "h5", "h6", "td", "tr", "th",
        "table", "section", "article", "pre", "blockquote", "figure",
        "figcaption", "dd", "dt", "hr",
    )
)  # fmt: skip
#: A program that extracts the main text of a page.
Extractor = Callable[[bytes], str]


@dataclass(frozen=True)
class Page:
    """A page and its truth.

    Attributes:
        name: of the page within its set.
        sets: the truth sets that it belongs to; WCXB's pages also belong to that of their type.
        truth: its text, or snippets.
    """

    name: str
    sets: tuple[str, ...]
    content: bytes
    truth: str | Snippets


def pages(folder: Path = CORPUS) -> list[Page]:
    """Returns all pages with a truth; none without the corpus."""
    if not folder.is_dir():
        return []
    return [*_aeb(folder / "aeb"), *_wcxb(folder / "wcxb"), *_readability(folder / "readability"),
            *_snippets(folder / "trafilatura")]  # fmt: skip


def peers() -> Mapping[str, Extractor]:
    """Returns the installed programs to compare with (`pip install --group bench`)."""
    found: dict[str, Extractor] = {}
    for name, make in (
        ("trafilatura", _trafilatura),
        ("readability-lxml", _readability_lxml),
        ("resiliparse", _resiliparse),
    ):
        try:
            found[name] = make()
        except ImportError:
            continue
    return found


def _aeb(folder: Path) -> Iterator[Page]:
    for name, truth in _json(folder / "ground-truth.json").items():
        content = _content(folder / f"{name}.html")
        yield Page(name, ("aeb",), content, truth["articleBody"])


def _wcxb(folder: Path) -> Iterator[Page]:
    for path in sorted(folder.glob("*.json")):
        entry = _json(path)
        kind = entry["_internal"]["page_type"]["primary"]
        truth = entry["ground_truth"]["main_content"]
        content = _content(folder / f"{entry['file_id']}.html")
        yield Page(path.stem, ("wcxb", f"wcxb-{kind}"), content, truth)


def _readability(folder: Path) -> Iterator[Page]:
    from lxml import html

    for path in sorted(folder.glob("*.expected.html.gz")):
        expected = gzip.decompress(path.read_bytes()).decode("utf-8")
        name = path.name.removesuffix(".expected.html.gz")
        truth = text_of_tree(html.fromstring(f"<div>{expected}</div>"))
        yield Page(name, ("readability",), _content(folder / f"{name}.source.html"), truth)


def _snippets(folder: Path) -> Iterator[Page]:
    for truth in _json(folder / "evaldata.json").values():
        name = truth["file"].removesuffix(".gz")
        yield Page(
            name, ("snippets",), _content(folder / name), Snippets(truth["with"], truth["without"])
        )


def _content(path: Path) -> bytes:
    packed = path.with_name(path.name + ".gz")
    return gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()


def _json(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return data


def text_of_tree(root: Any) -> str:
    """Returns the text of an lxml element, with blocks separated."""
    parts: list[str] = []
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        apart = item.tag in _BLOCKS
        if item is not root:
            stack.append(item.tail or "")
        if not isinstance(item.tag, str):
            continue
        stack.append(" " if apart else "")
        stack.extend(reversed(item))
        stack.append((" " if apart else "") + (item.text or ""))
    return "".join(parts)


def _trafilatura() -> Extractor:
    import trafilatura  # type: ignore[import-not-found]

    return lambda page: trafilatura.extract(page) or ""


def _readability_lxml() -> Extractor:
    import readability  # type: ignore[import-not-found]
    from lxml import html

    def extract(page: bytes) -> str:
        summary = readability.Document(page.decode("utf-8", "replace")).summary()
        return text_of_tree(html.fromstring(summary))

    return extract


def _resiliparse() -> Extractor:
    from resiliparse.extract.html2text import (  # type: ignore[import-not-found]
        extract_plain_text,
    )
    from resiliparse.parse.encoding import (  # type: ignore[import-not-found]
        bytes_to_str,
        detect_encoding,
    )

    def extract(page: bytes) -> str:
        text = bytes_to_str(page, detect_encoding(page))
        return str(extract_plain_text(text, main_content=True, alt_texts=False))

    return extract
