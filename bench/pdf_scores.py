"""Scores text from PDF files: words and their order, against a truth.

Words are taken from the text in NFKC and lower case, with hyphens at ends of lines joined. The
score of words is the F1 of the two multisets; the score of order is the share of the truth's pairs
of adjacent words that the text has.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

_HYPHEN = re.compile(r"(\w)[-\u2010\u00ad]\s*\n\s*(\w)")
_WORD = re.compile(r"\w+")


class Score(NamedTuple):
    """The agreement of a text with the truth, 0 to 1."""

    words: float
    order: float


def words(text: str) -> list[str]:
    """Returns the words of a text, in order."""
    joined = _HYPHEN.sub(r"\1\2", unicodedata.normalize("NFKC", text))
    return _WORD.findall(joined.lower())


def score(text: str, truth: str) -> Score:
    """Scores a text."""
    ours, theirs = words(text), words(truth)
    if not theirs:
        return Score(float(not ours), float(not ours))
    common = sum((Counter(ours) & Counter(theirs)).values())
    if not common:
        return Score(0.0, 0.0)
    precision, recall = common / len(ours), common / len(theirs)
    pairs = Counter(pairwise(theirs))
    found = sum((Counter(pairwise(ours)) & pairs).values())
    order = found / max(1, sum(pairs.values()))
    return Score(2 * precision * recall / (precision + recall), order)


def mean(scores: Sequence[Score]) -> Score:
    """Returns the mean of scores."""
    count = max(1, len(scores))
    return Score(
        sum(value.words for value in scores) / count, sum(value.order for value in scores) / count
    )


def text_of_tei(data: bytes) -> str:
    """Returns the text of a TEI document: title, abstract and body."""
    tree = ET.fromstring(data)
    space = "{http://www.tei-c.org/ns/1.0}"
    parts = [
        element
        for path in (f".//{space}titleStmt/{space}title", f".//{space}abstract", f".//{space}text")
        for element in tree.findall(path)
    ]
    blocks = []
    for part in parts:
        for element in part.iter():
            blocks.append(element.text or "")
            blocks.append(element.tail or "")
    return " ".join(blocks)


def text_of(document: Mapping[str, Any]) -> str:
    """Returns the text of a document of the contract, in reading order."""
    parts = [document.get("title", "")]
    parts += [author.get("literal", "") for author in document.get("authors", ())]
    sections = [
        section for summary in document.get("abstracts", ()) for section in summary["sections"]
    ]
    for section in (*sections, *document["sections"]):
        parts.append(f"{section.get('label', '')} {section.get('heading', '')}")
        parts += _texts(section["blocks"])
    for reference in document.get("references", ()):
        parts.append(f"{reference.get('label', '')} {reference['text']}")
    return "\n\n".join(part for part in parts if part.strip())


def _texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        names = ("label", "caption", "text")
        yield " ".join(block[name] for name in names if block.get(name))
        for item in block.get("items", ()):
            yield item.get("text", "")
            yield from _texts(item.get("blocks", ()))
        for row in block.get("rows", ()):
            yield "\t".join(row)
        yield from _texts(block.get("blocks", ()))
