"""`paper_retractions`: who says what of a paper, and who did not answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carrel.config import Config
from carrel.features import FEATURES
from carrel.tools import Toolbox
from support.guests import Guest, guest
from support.lookups import found, record, says
from support.lookups import source as lookup
from support.manifests import manifest, manifest_text
from support.paper_copies import DOI, WORK
from support.paper_tools import Make

Raw = dict[str, Any]
EXAMPLES = Path(__file__).parents[4] / "examples" / "recordings"
RETRACTION = {"type": "retraction", "doi": "10.5555/notice.1", "date": "2021-05-01"}


def saying(*updates: Raw, **members: Any) -> Guest:
    """Returns a source that has the paper, with these notices about it."""
    known = {**WORK, **({"updated_by": list(updates)} if updates else {}), **members}
    return lookup(says([found("doi", DOI, **known)]), "doi", contract="1.1")


LACKING = says(not_found=[{"type": "doi", "id": DOI}])


def outcomes(result: Raw) -> dict[str, str]:
    return {one["source"]: one["outcome"] for one in result["sources"]}


@pytest.mark.requirement("result:typed:retractions")
def test_the_statements_of_each_source_are_reported_with_the_disagreement(make: Make) -> None:
    concern = {"type": "Expression of concern", "pmid": "77", "source": "editor"}
    call = make(
        one=saying(RETRACTION), two=saying(), three=saying(concern), four=lookup(LACKING, "doi")
    )
    result = call("paper_retractions", ref=DOI)
    assert (result["status"], result["complete"]) == ("retracted", True)
    assert result["statements"] == [
        {"source": "one", "kind": "retraction", "doi": "10.5555/notice.1", "date": "2021-05-01"},
        {
            "source": "three",
            "kind": "expression_of_concern",
            "pmid": "77",
            "stated_by": "editor",
        },
    ]
    assert outcomes(result) == {
        "one": "states", "two": "silent", "three": "states", "four": "no_record",
    }  # fmt: skip
    assert result["disagreements"] == [
        "retracted according to one; two, three: no such notice",
        "of_concern according to three; two: no such notice",
    ]
    assert result["title"] == WORK["title"]


def test_a_record_of_another_publication_does_not_disagree(make: Make) -> None:
    eprint = saying(ids={"arxiv": "2301.00001"})
    result = make(one=saying(RETRACTION), two=eprint)("paper_retractions", ref=DOI)
    assert outcomes(result) == {"one": "states", "two": "silent"}
    assert result["disagreements"] == []


@pytest.mark.requirement("result:typed:retractions")
def test_a_source_that_failed_is_never_taken_for_one_that_says_nothing(make: Make) -> None:
    dead = lookup(body="unreachable")
    result = make(one=saying(), two=dead)("paper_retractions", ref=DOI)
    assert (result["status"], result["complete"]) == ("unknown", False)
    assert result["summary"] == "no source that answered says so: one; no whole answer from two"
    result = make(one=saying(RETRACTION), two=dead)("paper_retractions", ref=DOI)
    assert (result["status"], result["complete"]) == ("retracted", False)
    result = make(one=saying())("paper_retractions", ref=DOI)
    assert (result["status"], result["complete"]) == ("nothing_stated", True)
    result = make(one=dead)("paper_retractions", ref=DOI)
    assert result["error"]["code"] == "NETWORK_ERROR"
    result = make(one=lookup(LACKING, "doi"))("paper_retractions", ref=DOI)
    assert result["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("Removal", "retracted"),
        ("withdrawal", "retracted"),
        ("partial retraction", "partially_retracted"),
        ("expression-of-concern", "of_concern"),
        ("corrigendum", "corrected"),
        ("new_version", "updated"),
        ("a word of its own", "updated"),
    ],
)
def test_a_kind_in_any_spelling_has_its_status(make: Make, kind: str, status: str) -> None:
    assert make(one=saying({"type": kind}))("paper_retractions", ref=DOI)["status"] == status


def test_a_notice_says_what_it_is_about(make: Make) -> None:
    result = make(one=saying(updates=[{"type": "retraction", "doi": "10.5555/x"}]))(
        "paper_retractions", ref=DOI
    )
    assert result["status"] == "nothing_stated"
    assert result["notice_of"] == [{"source": "one", "kind": "retraction", "doi": "10.5555/x"}]


def test_a_source_whose_records_have_no_notices_is_not_asked(make: Make) -> None:
    schema = {"type": "object", "properties": {"container_title": {"type": "string"}}}
    formats = [{**manifest()["formats"][0], "output_schema": schema}]
    mute = lookup(body="unreachable", formats=formats)
    result = make(one=saying(), mute=mute)("paper_retractions", ref=DOI)
    assert outcomes(result) == {"one": "silent"}
    only = make(mute=mute)("paper_retractions", ref=DOI)
    assert only["error"]["code"] == "CAPABILITY_DENIED"


def test_a_citation_is_resolved_first(make: Make) -> None:
    answer = json.dumps({"works": [record(**WORK)]})
    roles = {"search": {"max": 50, "filters": []}}
    finding = guest(result=answer, manifest=manifest_text(hosts=[], roles=roles, contract="1.1"))
    result = make(find=finding, one=saying(RETRACTION))(
        "paper_retractions", ref=f"Reader, A. (2019). {WORK['title']}. Rooms 7."
    )
    assert result["status"] == "retracted"
    assert make(one=saying())("paper_retractions", ref="desks")["error"]["code"] == "INVALID_REF"


def test_notices_that_name_the_paper_count_as_its_own_list(
    configure: Callable[..., Config],
) -> None:
    """Crossref's record of a retracted paper may not say so; the notice that names it does."""
    config = replace(configure("crossref"), replay_dir=EXAMPLES / "crossref")
    features = [one for one in FEATURES if one.name == "papers"]
    with closing(Toolbox(config, features=features)) as toolbox:
        result: Raw = toolbox.call_sync("paper_retractions", {"ref": "10.5555/lamp(2021)102"}).data
        assert (result["ok"], result["status"], result["complete"]) == (True, "retracted", True), (
            result
        )
        assert {one["doi"] for one in result["statements"]} >= {"10.5555/retraction.104"}
        # The notices of this work were not recorded: half an answer is no answer.
        result = toolbox.call_sync("paper_retractions", {"ref": "10.5555/desk.2023.101"}).data
        assert result["complete"] is False, result
        assert result["sources"][0]["outcome"] == "failed"
