"""Tests when a work is not found although a source failed, and sources that are not asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carrel.api import Carrel
from carrel.config import Config, PluginConfig
from carrel.errors import LoadError
from carrel.plugins.manifests.manifest import parse_manifest
from support.guests import Guest, guest
from support.lookups import LOOP, A, found, one, says, source, trace
from support.manifests import manifest_text

from .conftest import Open

pytestmark = pytest.mark.long("matrix")

ARXIV = {"type": "arxiv", "id": "2307.90101"}
HOST = {"host": "api.example.org", "methods": ["GET"]}
KEY = {
    "name": "api_key",
    "description": "A free key of example.org.",
    "hosts": ["api.example.org"],
    "attach": {"header": "x-api-key"},
}
CONTACT = KEY | {"name": "contact", "attach": {"query": "email"}}


def keyed(result: str, *kinds: str, required: bool = False, body: str = "", **more: Any) -> Guest:
    """Returns a source whose manifest declares a key."""
    secret = KEY | {"required": True} if required else KEY
    changes = {"hosts": [HOST], "secrets": [secret], "contract": "1.1", **more}
    lookup = {"identifiers": list(kinds or ("doi",)), "batch": 10}
    return guest(body, result=result, manifest=manifest_text(lookup=lookup, **changes))


def limited(identifier: dict[str, str]) -> str:
    return says(failed=[{"id": identifier, "code": "rate_limited", "message": "too many"}])


LACKING = says(not_found=[A])
GRANT = {"secrets": ("api_key",)}


def test_a_source_whose_required_secret_is_not_set_is_not_asked_and_says_what_to_set(
    open_api: Open,
) -> None:
    needy = keyed("{}", required=True, body="unreachable")
    api = open_api(needy=needy, other=source(LACKING), entry={"needy": GRANT})
    item = one(api.lookup(["10.1000/A"]))
    assert item.outcome == "not_found"
    assert trace(item)[0] == ("needy", "not_asked", "not_configured")
    entry = item.to_json()["trace"][0]
    assert entry["message"] == (
        "api_key is not set; set CARREL_SECRET_NEEDY_API_KEY (A free key of example.org)"
    )
    having = source(says([found("doi", "10.1000/A")]))
    item = one(open_api(needy=needy, other=having).lookup(["10.1000/A"]))
    assert item.to_json()["trace"][0] == {
        "source": "needy",
        "outcome": "not_asked",
        "reason": "not_configured",
    }
    alone = one(open_api(needy=needy).lookup(["10.1000/A"]))
    assert alone.outcome == "not_asked"
    assert "plugins.needy.runtime_config.secrets" in alone.to_json()["trace"][0]["message"]


def test_a_source_whose_required_secret_is_set_is_asked(
    open_api: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARREL_SECRET_NEEDY_API_KEY", "k")
    needy = keyed(says([found("doi", "10.1000/A")]), required=True)
    assert one(open_api(needy=needy, entry={"needy": GRANT}).lookup(["10.1000/A"])).outcome == (
        "found"
    )
    ungranted = one(open_api(needy=needy).lookup(["10.1000/A"]))
    assert ungranted.outcome == "not_asked", "a secret that is not granted is not attached"


def test_a_replay_needs_no_secret_for_hosts_that_it_has_answers_of(
    tmp_path: Path, code_folder: Path
) -> None:
    recordings = tmp_path / "recordings"
    recordings.mkdir()
    path = tmp_path / "needy.wasm"
    path.write_bytes(keyed(says([found("doi", "10.1000/A")]), required=True).wasm)

    def outcome() -> str:
        config = Config(
            cache_dir=code_folder,
            data_dir=tmp_path,
            plugins=(PluginConfig("needy", path.as_uri()),),
            replay_dir=recordings,
        )
        with Carrel(config) as api:
            return one(api.lookup(["10.1000/A"])).outcome

    assert outcome() == "not_asked"
    url = "https://api.example.org/v1"
    response = {"status": 200, "url": url, "headers": [], "size": 2, "body": "one.txt"}
    exchange = {"format": 1, "request": {"method": "GET", "url": url}, "response": response}
    (recordings / "one.json").write_text(json.dumps(exchange))
    (recordings / "one.txt").write_text("{}")
    assert outcome() == "found"


@pytest.mark.requirement("result:typed:assigned-identifiers")
def test_the_source_that_assigns_an_identifier_has_the_last_word(open_api: Open) -> None:
    assigning = source(says(not_found=[ARXIV]), "arxiv", assigns=["arxiv"], contract="1.1")
    failing = source("{}", "arxiv", body="unreachable")
    item = one(open_api(own=assigning, index=failing).lookup(["arXiv:2307.90101"]))
    assert item.outcome == "not_found"
    assert item.problem is None
    assert trace(item)[1] == ("index", "failed", "plugin_failed")
    other = source("{}", "arxiv", body="unreachable", assigns=["arxiv"], contract="1.1")
    both = one(open_api(own=assigning, other=other).lookup(["arXiv:2307.90101"]))
    assert both.outcome == "failed", "two plugins claim the kind, so neither has the last word"


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"assigns": ["doi"]}, "doi"),
        ({"assigns": ["pmid"]}, "assigns: 'pmid' is not among lookup.identifiers"),
        ({"assigns": ["arxiv"], "contract": "1.0"}, "assigns need contract 1.1"),
        (
            {"secrets": [KEY | {"required": True}], "contract": "1.0"},
            "secrets.api_key: required needs contract 1.1",
        ),
    ],
)
def test_a_claim_that_the_contract_does_not_know_is_refused(
    changes: dict[str, Any], fault: str
) -> None:
    members = {"contract": "1.1", "lookup": {"identifiers": ["doi", "arxiv"]}, "hosts": [HOST]}
    with pytest.raises(LoadError, match=fault):
        parse_manifest(manifest_text(**members | changes), "sample")


@pytest.mark.requirement("result:typed:rate-limited-without-key")
def test_a_rate_limit_without_a_key_does_not_turn_not_found_into_failed(
    open_api: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = keyed(limited(A))
    item = one(open_api(index=index, other=source(LACKING)).lookup(["10.1000/A"]))
    assert item.outcome == "not_found"
    assert trace(item) == [
        ("index", "failed", "rate_limited"),
        ("other", "not_found", "10.1000/A"),
    ]
    alone = one(open_api(index=index).lookup(["10.1000/A"]))
    assert alone.outcome == "failed", "no other source says that there is none"
    monkeypatch.setenv("CARREL_SECRET_INDEX_API_KEY", "k")
    entry = {"index": GRANT}
    set_ = one(open_api(index=index, other=source(LACKING), entry=entry).lookup(["10.1000/A"]))
    assert set_.outcome == "failed", "with a key, the limit is that of the source"


@pytest.mark.parametrize(
    "failing",
    [
        pytest.param(keyed("{}", body="unreachable"), id="another-failure"),
        pytest.param(keyed("{}", body=LOOP), id="timeout"),
        pytest.param(source(limited(A)), id="no-key-declared"),
        pytest.param(keyed(limited(A), secrets=[CONTACT]), id="the-contact-address-is-no-key"),
    ],
)
def test_other_failures_without_a_key_are_never_not_found(open_api: Open, failing: Guest) -> None:
    api = open_api(failing=failing, other=source(LACKING), limits={"wall_seconds": 2})
    assert one(api.lookup(["10.1000/A"])).outcome == "failed"


def test_the_source_that_assigns_an_identifier_is_not_passed_over(open_api: Open) -> None:
    own = keyed(limited(ARXIV), "arxiv", assigns=["arxiv"])
    index = source(says(not_found=[ARXIV]), "arxiv")
    item = one(open_api(own=own, index=index).lookup(["arXiv:2307.90101"]))
    assert item.outcome == "failed"
