"""Makes feeds like those of arXiv's query API, with invented text.

The same arguments give the same bytes on every machine. An entry has the elements of real ones,
about as often: TeX and escaped characters in titles and abstracts, abstracts of 1.2 KB, one to a
dozen authors with accents and some affiliations, comments, journal references, several DOIs.
"""

from __future__ import annotations

import random
from xml.sax.saxutils import escape

from .prose import FAMILY, GIVEN, PLACES, abstract, fill, pick, title

_HEAD = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" \
xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
  <id>https://arxiv.org/api/bEnchMarkDocument0123456789</id>
  <title>arXiv Query: search_query=all:desk&amp;id_list=&amp;start=0&amp;max_results={count}</title>
  <updated>2026-06-06T19:21:56Z</updated>
  <link href="https://arxiv.org/api/query?search_query=all:desk&amp;start=0&amp;max_results={count}\
&amp;id_list=" type="application/atom+xml"/>
  <opensearch:itemsPerPage>{count}</opensearch:itemsPerPage>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>0</opensearch:startIndex>
"""
_TAIL = "</feed>\n"

_CATEGORIES = (
    "astro-ph.CO", "astro-ph.GA", "cond-mat.stat-mech", "cond-mat.str-el", "cs.DL", "cs.DS",
    "cs.LG", "cs.PL", "gr-qc", "hep-ph", "math.CO", "math.NT", "physics.flu-dyn", "quant-ph",
    "stat.ML", "11G05", "68Q25",
)  # fmt: skip
_COMMENTS = (
    "{number} pages, 7 figures", "v2: typos corrected, references added",
    "{number} pages, 3 tables; accepted version", "Talk given at a small workshop & extended",
)  # fmt: skip


def feed(entries: int, *, seed: int = 1) -> str:
    """Returns a feed of so many entries."""
    chance = random.Random(seed)
    body = "".join(_entry(chance, number) for number in range(entries))
    return _HEAD.format(count=entries, total=entries * 37) + body + _TAIL


def feed_of_size(size: int, *, seed: int = 1) -> str:
    """Returns a feed of about `size` bytes in UTF-8; the difference is less than one entry."""
    chance = random.Random(seed)
    parts: list[str] = []
    length = len(_HEAD) + len(_TAIL)
    while length < size:
        parts.append(_entry(chance, len(parts)))
        length += len(parts[-1].encode())
    return _HEAD.format(count=len(parts), total=len(parts) * 37) + "".join(parts) + _TAIL


def entry_ids(entries: int, *, seed: int = 1) -> list[str]:
    """Returns the ids, with version, of the entries of `feed`."""
    marks = feed(entries, seed=seed).split("<id>http://arxiv.org/abs/")[1:]
    return [mark.partition("<")[0] for mark in marks]


def _entry(chance: random.Random, number: int) -> str:
    # Every fifth one has an old-style id, which contains a slash.
    month = f"{number // 40 % 12 + 1:02d}"
    stem = f"{number // 9000 + 10:02d}{month}"
    name = f"{stem}.{number % 99999:05d}" if number % 5 else f"hep-ex/{stem}{number % 999:03d}"
    versioned = f"{name}v{pick(chance, (1, 1, 1, 2, 3, 7))}"
    categories = [pick(chance, _CATEGORIES) for _ in range(pick(chance, (1, 2, 2, 3)))]
    day = f"{number % 28 + 1:02d}"
    dois = [
        f"10.{pick(chance, (1103, 1016, 48550, 1007))}/desk({number})-{part}"
        for part in range(pick(chance, (0, 0, 1, 1, 2)))
    ]
    lines = [
        "  <entry>",
        f"    <id>http://arxiv.org/abs/{versioned}</id>",
        f"    <title>{escape(title(chance))}</title>",
        f"    <updated>2026-{month}-{day}T09:15:35Z</updated>",
        f'    <link href="https://arxiv.org/abs/{versioned}" rel="alternate" type="text/html"/>',
        (
            f'    <link href="https://arxiv.org/pdf/{versioned}" rel="related" '
            'type="application/pdf" title="pdf"/>'
        ),
    ]
    lines += [f'    <link href="https://doi.org/{doi}" rel="related" title="doi"/>' for doi in dois]
    lines.append(f"    <summary>{escape(abstract(chance))}</summary>")
    lines += [
        f'    <category term="{category}" scheme="http://arxiv.org/schemas/atom"/>'
        for category in categories
    ]
    lines.append(f"    <published>2025-{month}-{day}T14:05:26Z</published>")
    if chance.random() < 0.7:
        comment = fill(chance, pick(chance, _COMMENTS))
        lines.append(f"    <arxiv:comment>{escape(comment)}</arxiv:comment>")
    lines.append(f'    <arxiv:primary_category term="{categories[0]}"/>')
    if dois:
        where = f"J. Desk Stud. {number % 90 + 1} (2025) {number % 700 + 1}"
        lines.append(f"    <arxiv:journal_ref>{where}</arxiv:journal_ref>")
    lines += [f"    <arxiv:doi>{doi}</arxiv:doi>" for doi in dois]
    for _ in range(pick(chance, (1, 2, 2, 3, 3, 4, 5, 6, 12))):
        lines += _author(chance)
    lines.append("  </entry>\n")
    return "\n".join(lines)


def _author(chance: random.Random) -> list[str]:
    name = f"{pick(chance, GIVEN)} {pick(chance, FAMILY)}"
    lines = ["    <author>", f"      <name>{escape(name)}</name>"]
    if chance.random() < 0.1:
        affiliation = escape(pick(chance, PLACES))
        lines.append(f"      <arxiv:affiliation>{affiliation}</arxiv:affiliation>")
    return [*lines, "    </author>"]
