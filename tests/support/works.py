"""Makes small records, and Hypothesis strategies for records that overlap."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from carrel.records import Agent, Ids, Link, Reference, Update, Work
from carrel.records.order import PRECEDENCE

TITLE = "A long enough title about reading desks"


def work(source: str = "crossref", **members: Any) -> Work:
    """Returns a record; identifiers may be given as `doi=`, `arxiv=`, `pmid=`, `pmcid=`."""
    ids = {kind: members.pop(kind) for kind in ("doi", "arxiv", "pmid", "pmcid") if kind in members}
    return Work(**{"ids": Ids(**ids), "type": "article-journal", "source": source, **members})


def person(family: str, given: str | None = None) -> Agent:
    return Agent(family=family, given=given)


def _maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values


def _few(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(values, max_size=3, unique=True).map(tuple)


_WORDS = st.sampled_from(["desk", "lamp", "10.1000/A", "10.1000/a", "日本"])
_DATES = st.sampled_from(["2020", "2020-02", "2021-03-04"])
_PEOPLE = st.builds(
    Agent,
    family=st.sampled_from(["Reader", "Writer"]),
    given=_maybe(st.just("A.")),
    affiliations=_few(_WORDS),
)

#: Few values, so that records agree, differ and contradict each other often.
WORKS: st.SearchStrategy[Work] = st.builds(
    Work,
    ids=st.builds(
        Ids,
        doi=_maybe(
            st.sampled_from(["10.1000/A", "10.1000/a", "10.1000/b", "10.48550/arXiv.2001.00001"])
        ),
        arxiv=_maybe(
            st.sampled_from(["2001.00001", "2001.00001v2", "2001.00001v10", "hep-ex/0307015"])
        ),
        pmid=_maybe(st.sampled_from(["1", "2"])),
        pmcid=_maybe(st.sampled_from(["PMC1", "PMC2"])),
        isbn=_few(st.sampled_from(["9780000000002", "9780000000019"])),
    ),
    type=st.sampled_from(["article", "article-journal", "dataset"]),
    title=_maybe(st.sampled_from([TITLE, TITLE.upper() + ".", "Editorial", "10.1000/A"])),
    abstract=_maybe(_WORDS),
    authors=_few(_PEOPLE),
    issued=_maybe(_DATES),
    subjects=_few(_WORDS),
    links=_few(st.builds(Link, url=st.sampled_from(["https://a.example/", "https://b.example/"]))),
    references=_few(st.builds(Reference, doi=_maybe(_WORDS), key=st.sampled_from("ab"))),
    updated_by=_few(
        st.builds(
            Update,
            type=st.sampled_from(["retraction", "correction"]),
            doi=st.sampled_from(["10.1000/N", "10.1000/n"]),
            date=_maybe(_DATES),
        )
    ),
    cited_by_count=_maybe(st.integers(0, 2)),
    source=st.sampled_from([*PRECEDENCE, "another", "zenodo"]),
)
