"""Tests that a manifest is validated completely, with all faults reported at once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from carrel.errors import ContractViolation, LoadError
from carrel.plugins.manifests.manifest import MAX_BYTES, parse_manifest
from support.manifests import manifest, manifest_text, with_tool


def test_a_good_manifest_becomes_values() -> None:
    parsed = parse_manifest(manifest_text(namespace="other", limits={"fetches": 3}), "sample")
    assert parsed.namespace == "other"
    assert [tool.name for tool in parsed.tools] == ["echo"]
    assert parsed.hosts[0].host == "api.example.org"
    assert parsed.hosts[0].pace.interval == 0.1
    assert parsed.limits == {"fetches": 3}
    assert parsed.format("note") is not None
    assert parsed.tool("nothing") is None


def test_the_namespace_is_the_name_unless_given() -> None:
    assert parse_manifest(manifest_text(), "sample").namespace == "sample"


def test_every_fault_is_reported_at_once() -> None:
    bad = manifest(contract=1.0, name="Bad Name", surprise=1)
    del bad["licence"]
    with pytest.raises(LoadError) as caught:
        parse_manifest(json.dumps(bad), "sample")
    for words in ("contract", "name", "surprise", "licence"):
        assert words in caught.value.message


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param(manifest(tools=manifest()["tools"] * 2), "'echo' twice", id="twice"),
        pytest.param(with_tool(description="looks\u200bfine"), "invisible", id="zero-width"),
        pytest.param(with_tool(description="\u202eevil"), "invisible", id="bidi"),
        pytest.param(with_tool(description="tag\U000e0041"), "invisible", id="tag"),
        pytest.param(with_tool(title="esc\x1b[2J"), "invisible", id="escape"),
        pytest.param(
            with_tool(input_schema={"type": "object", "description": "a\u2060b"}),
            "invisible",
            id="hidden-in-a-schema",
        ),
        pytest.param(with_tool(description="x" * 5000), "description", id="long-description"),
        pytest.param(with_tool(name="has space"), "name", id="tool-name"),
        pytest.param(
            with_tool(input_schema={"type": "object", "$ref": "https://example.org/s.json"}),
            "outside itself",
            id="remote-ref",
        ),
        pytest.param(manifest(hosts=[{"host": "*", "methods": ["GET"]}]), "hosts", id="bare-star"),
        pytest.param(
            manifest(hosts=[{"host": "127.0.0.1", "methods": ["GET"]}]), "hosts", id="literal"
        ),
        pytest.param(
            manifest(
                secrets=[{"name": "key", "hosts": ["evil.example"], "attach": {"query": "k"}}]
            ),
            "evil.example",
            id="secret-for-an-undeclared-host",
        ),
        *(
            pytest.param(
                manifest(
                    hosts=[{"host": "api.example.org", "methods": ["GET"]}],
                    secrets=[{"name": "key", "hosts": ["api.example.org"], "attach": place}],
                ),
                "secrets.0.attach|secrets\\[0\\]",
                id=f"secret-with-{name}",
            )
            for name, place in {
                "no-place": {},
                "two-places": {"query": "k", "header": "X-Key"},
                "a-scheme-alone": {"scheme": "Bearer"},
                "a-scheme-in-a-query": {"query": "k", "scheme": "Bearer"},
                "a-scheme-of-two-words": {"header": "Authorization", "scheme": "Bearer x"},
                "a-header-of-the-hosts": {"header": "Host", "scheme": "Bearer"},
            }.items()
        ),
    ],
)
def test_a_bad_manifest_is_refused_with_the_place(changed: dict[str, Any], words: str) -> None:
    with pytest.raises(LoadError, match=words):
        parse_manifest(json.dumps(changed), "sample")


@pytest.mark.parametrize(
    "place",
    [{"query": "k"}, {"header": "X-Key"}, {"header": "Authorization", "scheme": "Bearer"}],
    ids=["query", "header", "scheme"],
)
def test_a_secret_goes_into_a_query_or_a_header_with_or_without_a_scheme(
    place: dict[str, str],
) -> None:
    from carrel.fetch.policy.manifest import read_policy

    hosts = [{"host": "api.example.org", "methods": ["GET"]}]
    secrets = [{"name": "key", "hosts": ["api.example.org"], "attach": place}]
    parsed = parse_manifest(json.dumps(manifest(hosts=hosts, secrets=secrets)), "sample")
    _, [secret] = read_policy(parsed.raw, granted=None, provided={"key": "abcd"})
    assert (secret.query, secret.header, secret.scheme) == tuple(
        place.get(key) for key in ("query", "header", "scheme")
    )


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "3", "{", "null", '{"a":' * 300])
def test_a_result_that_is_no_json_object_is_a_contract_violation(text: str) -> None:
    with pytest.raises(ContractViolation):
        parse_manifest(text, "sample")


def test_a_manifest_over_the_cap_is_refused_before_it_is_read() -> None:
    with pytest.raises(LoadError, match="over"):
        parse_manifest(" " * (MAX_BYTES + 1), "sample")
