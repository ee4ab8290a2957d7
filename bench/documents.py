"""Feeds to measure with: shaped like those of arXiv's query API, every word of them made up here.

The same arguments give the same bytes on every machine. An entry has what real ones have, about as
often: TeX and escaped characters in titles and abstracts, abstracts of 1.2 KB, one to a dozen
authors with accents and some affiliations, comments, journal references, several DOIs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar
from xml.sax.saxutils import escape

T = TypeVar("T")

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

_SUBJECTS = (
    "sparse lattices", "reading machines", "tidal disruption events", "frustrated magnets",
    "catalogue records", "random walks on trees", "spin chains", "protein folding rates",
    "supernova light curves", "compilers for small devices", "elliptic curves over the rationals",
    "two-dimensional superfluids", "citation networks", "turbulent boundary layers",
    "neural scene models", "dark matter haloes",
)  # fmt: skip
_METHODS = (
    "a renormalisation argument", "Monte Carlo sampling", "a variational bound",
    "graph contraction", "symbolic execution", "survey data from two telescopes",
    "an exact diagonalisation", "Bayesian model comparison", "a coupled cluster expansion",
    "a learnt surrogate", "interval arithmetic", "an adaptive mesh",
)  # fmt: skip
_FINDINGS = (
    "the error falls with the cube of the sample size once the samples are independent",
    "the gap closes at half filling and opens again well beyond the transition",
    "no signal remains after the background is subtracted, in agreement with the standard model",
    "the running time is within a factor of two of optimal on every instance tried",
    "readers prefer the layout with fewer lines by a wide margin",
    "the two definitions agree exactly when the underlying graph has bounded degree",
    "the quenched and the annealed averages differ by a constant that can be computed",
    "training on synthetic data transfers to real instruments without further tuning",
    "the ordered phase survives weak disorder, which settles a question of long standing",
    "the larger sample confirms the trend but moves its turning point to earlier times",
)  # fmt: skip
_FINDINGS_IN_TEX = (
    "the error falls as $O(n^{-3/2})$ once $n > 10^4$",
    "the gap closes for $J_1/J_2 < 0.37$ and opens again beyond $T_c \\approx 2.27$",
    "the mass lies between $1.2\\times10^{9}\\,M_\\odot$ and $4\\times10^{9}\\,M_\\odot$",
    "the spectrum follows $E^{-2.7\\pm 0.1}$ up to the “knee”",
    "the constant is at most $\\pi^2/6$, which is sharp",
    "R&D spending explains little of the variance ($R^2 = 0.1$)",
    "the map $x \\mapsto x^2 + c$ is conjugate to a shift at $c = -2$",
)  # fmt: skip
_OPENINGS = (
    "We study {subject} by means of {method}.",
    "The behaviour of {subject} has long resisted explanation.",
    "We revisit {subject}, a problem that earlier work left open.",
    "Recent measurements of {subject} call for a closer look.",
)
_MIDDLES = (
    "Using {method}, we show that {finding}.",
    "In contrast to what is known for {subject}, {finding}.",
    "A careful treatment of the boundary terms -- often left out -- matters: {finding}.",
    "Our main result is that {finding}; the proof rests on {method}.",
    "For {subject} and {other}, which share one limit, {finding}.",
    "We test this with {method} on {number} samples and find that {finding}.",
    "Where the assumptions fail, {method} still gives a bound, and {finding}.",
)
_CLOSINGS = (
    "Code and data are available at https://example.org/desk/{number}.",
    "We close with open questions on {other}.",
    "Consequences for {other} are discussed.",
)
_GIVEN = (
    "Ada", "Björn", "Chloé", "Dmitri", "Elif", "Femi", "Grażyna", "Hiro", "Inês", "José Luis",
    "K. M.", "Łukasz", "Mei", "Nadia", "Ólafur", "P.", "Radu", "Šárka", "Tomás", "Yusuf",
)  # fmt: skip
_FAMILY = (
    "Almeida", "Bergström", "Castellanos", "Dvořák", "Eriksen", "Fontaine", "Grünwald", "Hasegawa",
    "Ivanova", "Jørgensen", "Kowalski", "Lindqvist", "McAllister", "Nakamura", "O'Rourke",
    "Papadopoulos", "Quiroga", "Rossi", "van der Meer", "Zhang",
)  # fmt: skip
_PLACES = (
    "Institute of Reading, University of Northgate",
    "Dept. of Physics & Astronomy, Weir College",
    "Observatorio del Valle, Santa Clara",
    "École des Cartes, Lyon",
)
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
    """A feed of so many entries."""
    chance = random.Random(seed)
    body = "".join(_entry(chance, number) for number in range(entries))
    return _HEAD.format(count=entries, total=entries * 37) + body + _TAIL


def feed_of_size(size: int, *, seed: int = 1) -> str:
    """A feed of `size` bytes in UTF-8, less than one entry more or less."""
    chance = random.Random(seed)
    parts: list[str] = []
    length = len(_HEAD) + len(_TAIL)
    while length < size:
        parts.append(_entry(chance, len(parts)))
        length += len(parts[-1].encode())
    return _HEAD.format(count=len(parts), total=len(parts) * 37) + "".join(parts) + _TAIL


def entry_ids(entries: int, *, seed: int = 1) -> list[str]:
    """The ids, with version, of the entries of `feed`."""
    marks = feed(entries, seed=seed).split("<id>http://arxiv.org/abs/")[1:]
    return [mark.partition("<")[0] for mark in marks]


def _entry(chance: random.Random, number: int) -> str:
    # Every fifth one has an id of the old style, with a slash in it.
    month = f"{number // 40 % 12 + 1:02d}"
    stem = f"{number // 9000 + 10:02d}{month}"
    name = f"{stem}.{number % 99999:05d}" if number % 5 else f"hep-ex/{stem}{number % 999:03d}"
    versioned = f"{name}v{_pick(chance, (1, 1, 1, 2, 3, 7))}"
    categories = [_pick(chance, _CATEGORIES) for _ in range(_pick(chance, (1, 2, 2, 3)))]
    day = f"{number % 28 + 1:02d}"
    dois = [
        f"10.{_pick(chance, (1103, 1016, 48550, 1007))}/desk({number})-{part}"
        for part in range(_pick(chance, (0, 0, 1, 1, 2)))
    ]
    lines = [
        "  <entry>",
        f"    <id>http://arxiv.org/abs/{versioned}</id>",
        f"    <title>{escape(_title(chance))}</title>",
        f"    <updated>2026-{month}-{day}T09:15:35Z</updated>",
        f'    <link href="https://arxiv.org/abs/{versioned}" rel="alternate" type="text/html"/>',
        (
            f'    <link href="https://arxiv.org/pdf/{versioned}" rel="related" '
            'type="application/pdf" title="pdf"/>'
        ),
    ]
    lines += [f'    <link href="https://doi.org/{doi}" rel="related" title="doi"/>' for doi in dois]
    lines.append(f"    <summary>{escape(_abstract(chance))}</summary>")
    lines += [
        f'    <category term="{category}" scheme="http://arxiv.org/schemas/atom"/>'
        for category in categories
    ]
    lines.append(f"    <published>2025-{month}-{day}T14:05:26Z</published>")
    if chance.random() < 0.7:
        comment = _fill(chance, _pick(chance, _COMMENTS))
        lines.append(f"    <arxiv:comment>{escape(comment)}</arxiv:comment>")
    lines.append(f'    <arxiv:primary_category term="{categories[0]}"/>')
    if dois:
        where = f"J. Desk Stud. {number % 90 + 1} (2025) {number % 700 + 1}"
        lines.append(f"    <arxiv:journal_ref>{where}</arxiv:journal_ref>")
    lines += [f"    <arxiv:doi>{doi}</arxiv:doi>" for doi in dois]
    for _ in range(_pick(chance, (1, 2, 2, 3, 3, 4, 5, 6, 12))):
        lines += _author(chance)
    lines.append("  </entry>\n")
    return "\n".join(lines)


def _title(chance: random.Random) -> str:
    subject, method = _pick(chance, _SUBJECTS), _pick(chance, _METHODS)
    title = f"{subject[0].upper()}{subject[1:]} by {method}"
    return f"{title}, and a bound for $\\alpha < 1$" if chance.random() < 0.15 else title


def _abstract(chance: random.Random) -> str:
    sentences = [_fill(chance, _pick(chance, _OPENINGS))]
    goal = 700 + int(800 * chance.random())
    while sum(map(len, sentences)) < goal:
        sentences.append(_fill(chance, _pick(chance, _MIDDLES)))
    sentences.append(_fill(chance, _pick(chance, _CLOSINGS)))
    return " ".join(sentences)


def _author(chance: random.Random) -> list[str]:
    name = f"{_pick(chance, _GIVEN)} {_pick(chance, _FAMILY)}"
    lines = ["    <author>", f"      <name>{escape(name)}</name>"]
    if chance.random() < 0.1:
        place = escape(_pick(chance, _PLACES))
        lines.append(f"      <arxiv:affiliation>{place}</arxiv:affiliation>")
    return [*lines, "    </author>"]


def _fill(chance: random.Random, template: str) -> str:
    findings = _FINDINGS_IN_TEX if chance.random() < 0.12 else _FINDINGS
    return (
        template.replace("{subject}", _pick(chance, _SUBJECTS))
        .replace("{other}", _pick(chance, _SUBJECTS))
        .replace("{method}", _pick(chance, _METHODS))
        .replace("{finding}", _pick(chance, findings))
        .replace("{number}", str(12 + int(chance.random() * 80)))
    )


def _pick(chance: random.Random, choices: Sequence[T]) -> T:
    # `random()` alone keeps its sequence from one Python version to the next.
    return choices[int(chance.random() * len(choices))]
