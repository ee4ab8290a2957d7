"""Makes invented text for documents.

Documents must resemble the source's: scholarly sentences, TeX and characters that need escaping as
often as in real ones, names with accents. Copies of real ones would be neither allowed nor
reproducible.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

SUBJECTS = (
    "sparse lattices", "reading machines", "tidal disruption events", "frustrated magnets",
    "catalogue records", "random walks on trees", "spin chains", "protein folding rates",
    "supernova light curves", "compilers for small devices", "elliptic curves over the rationals",
    "two-dimensional superfluids", "citation networks", "turbulent boundary layers",
    "neural scene models", "dark matter haloes",
)  # fmt: skip
METHODS = (
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
GIVEN = (
    "Ada", "Björn", "Chloé", "Dmitri", "Elif", "Femi", "Grażyna", "Hiro", "Inês", "José Luis",
    "K. M.", "Łukasz", "Mei", "Nadia", "Ólafur", "P.", "Radu", "Šárka", "Tomás", "Yusuf",
)  # fmt: skip
FAMILY = (
    "Almeida", "Bergström", "Castellanos", "Dvořák", "Eriksen", "Fontaine", "Grünwald", "Hasegawa",
    "Ivanova", "Jørgensen", "Kowalski", "Lindqvist", "McAllister", "Nakamura", "O'Rourke",
    "Papadopoulos", "Quiroga", "Rossi", "van der Meer", "Zhang",
)  # fmt: skip
PLACES = (
    "Institute of Reading, University of Northgate",
    "Dept. of Physics & Astronomy, Weir College",
    "Observatorio del Valle, Santa Clara",
    "École des Cartes, Lyon",
)


def title(chance: random.Random) -> str:
    """Returns a title, sometimes with TeX."""
    subject, method = pick(chance, SUBJECTS), pick(chance, METHODS)
    title = f"{subject[0].upper()}{subject[1:]} by {method}"
    return f"{title}, and a bound for $\\alpha < 1$" if chance.random() < 0.15 else title


def abstract(chance: random.Random) -> str:
    """Returns an abstract of about 1.2 KB."""
    sentences = [fill(chance, pick(chance, _OPENINGS))]
    goal = 700 + int(800 * chance.random())
    while sum(map(len, sentences)) < goal:
        sentences.append(fill(chance, pick(chance, _MIDDLES)))
    sentences.append(fill(chance, pick(chance, _CLOSINGS)))
    return " ".join(sentences)


def fill(chance: random.Random, template: str) -> str:
    """Returns a template with its placeholders replaced."""
    findings = _FINDINGS_IN_TEX if chance.random() < 0.12 else _FINDINGS
    return (
        template.replace("{subject}", pick(chance, SUBJECTS))
        .replace("{other}", pick(chance, SUBJECTS))
        .replace("{method}", pick(chance, METHODS))
        .replace("{finding}", pick(chance, findings))
        .replace("{number}", str(12 + int(chance.random() * 80)))
    )


def pick(chance: random.Random, choices: Sequence[T]) -> T:
    """Returns one of the choices."""
    # Only `random()` has the same sequence in all Python versions.
    return choices[int(chance.random() * len(choices))]
