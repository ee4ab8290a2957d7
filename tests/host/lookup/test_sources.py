"""Tests the sources of a lookup: chosen by the caller, disabled by the operator."""

from __future__ import annotations

import pytest

from carrel.errors import ArgumentError
from support.guests import guest
from support.lookups import LOOP, A, one, says, source, trace
from support.manifests import manifest_text

from .conftest import Open


@pytest.mark.parametrize("name", ["eutils", "pubmed"])
def test_sources_are_chosen_by_name_or_prefix(open_api: Open, name: str) -> None:
    answer = says(not_found=[A])
    api = open_api(
        eutils=source(answer, namespace="pubmed"), crossref=source(body=LOOP, namespace="cr")
    )
    assert trace(one(api.lookup(["10.1000/A"], sources=[name]))) == [
        ("eutils", "not_found", "10.1000/A"),
        ("crossref", "not_asked", "not_chosen"),
    ]


def test_a_source_without_lookup_is_refused_with_the_nearest_name(open_api: Open) -> None:
    api = open_api(crossref=source(namespace="cr"), plain=guest(manifest=manifest_text()))
    with pytest.raises(ArgumentError, match="did you mean 'crossref'"):
        api.lookup(["10.1000/A"], sources=["crosref"])
    with pytest.raises(ArgumentError, match="'plain' looks nothing up"):
        api.lookup(["10.1000/A"], sources=["plain"])


def test_a_disabled_lookup_is_not_queried(open_api: Open) -> None:
    api = open_api(one=source(body=LOOP), entry={"one": {"skip_tools": ("lookup",)}})
    item = one(api.lookup(["10.1000/A"]))
    assert (item.outcome, trace(item)) == ("not_asked", [("one", "not_asked", "switched_off")])
