"""Tests a server with real plugins and a library: what scopes grant, and whose files there are."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from carrel.server.identity.roots import folder_name
from support.http_server import (
    BOTH,
    HttpServer,
    answer_of,
    envelope,
    modern_headers,
    request,
)
from support.issuers import RESOURCE, Issuer, bearer
from support.library_world import item, write_library
from support.person import Person, person
from support.streams import Stream

SCOPES = {
    "carrel:arxiv": {"plugins": ["arxiv"]},
    "carrel:library": {"toolsets": ["library"]},
    "carrel:lookup": {"toolsets": ["lookup"], "plugins": ["arxiv", "crossref"]},
    "carrel:all": {"toolsets": ["*"], "plugins": ["*"]},
}
DESK = "@article{desk, title = {The tidy desk of %s}, author = {Marlow, Ada}, year = 2019}"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("team")


@pytest.fixture(scope="module")
def server(issuer: Issuer, folder: Path, code_folder: Path) -> Iterator[HttpServer]:
    settings = {
        "cache_dir": str(code_folder),
        "data_dir": str(folder / "data"),
        "replay_dir": str(folder),
        "server": {
            "log_level": "info",
            "log_format": "json",
            "audit_log": str(folder / "audit.jsonl"),
        },
        "library": {"file": str(folder / "operator.json")},
        "identity": {
            "issuer": issuer.url,
            "resource": RESOURCE,
            "required_scopes": ["carrel"],
            "scopes": SCOPES,
            "plain_http": True,
            "private": True,
            "burst": 1000,
        },
    }
    (folder / "operator.json").write_text('[{"id": "secret", "type": "book", "title": "Ours"}]')
    path = folder / "carrel.json"
    path.write_text(json.dumps(settings), "utf-8")
    words = [sys.executable, "-m", "carrel", "serve", "--config", str(path)]
    with HttpServer([*words, "--http", "127.0.0.1:0"]) as server:
        yield server


ERAS = pytest.mark.parametrize("is_modern", [True, False], ids=["2026-07-28", "session"])


@ERAS
@pytest.mark.requirement("identity:scopes:tools")
def test_tools_outside_the_scopes_are_neither_listed_nor_callable(
    server: HttpServer, issuer: Issuer, is_modern: bool
) -> None:
    alice = person(server, issuer, "alice", "carrel:arxiv", is_modern=is_modern)
    bob = person(server, issuer, "bob", "carrel:library", is_modern=is_modern)
    assert alice.tools()
    assert all(name.startswith("arxiv_") for name in alice.tools())
    assert bob.tools()
    assert all(name.startswith("library_") for name in bob.tools())
    for who, tool, scope in (
        (alice, "library_list", "carrel carrel:arxiv carrel:library"),
        (alice, "crossref_works", "carrel carrel:arxiv carrel:lookup"),
        (bob, "arxiv_query", "carrel carrel:library carrel:arxiv"),
    ):
        refused = who.send("tools/call", {"name": tool, "arguments": {}})
        assert refused.status_code == 403
        challenge = refused.headers["www-authenticate"]
        assert challenge.startswith(f'Bearer error="insufficient_scope", scope="{scope}", ')
        assert "result" not in refused.json()


def test_log_and_audit_log_say_who_was_refused_and_why(
    server: HttpServer, issuer: Issuer, folder: Path
) -> None:
    """Behind a proxy the address is the proxy's, so only the principal says who it was."""
    mallory = person(server, issuer, "mallory", "carrel:arxiv", is_modern=True)
    assert mallory.send("tools/call", {"name": "library_list"}).status_code == 403
    nobody = Person(server, issuer.token(sub="nobody", scope="other"), is_modern=True)
    assert nobody.send("tools/list").status_code == 403
    lines = (folder / "audit.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    mine = [one for one in events if one.get("principal") == "mallory"]
    assert [(one["refusal"], one["status"]) for one in mine] == [("insufficient-scope", 403)]
    assert mine[0]["reason"]
    assert "nobody lacks carrel" in [one.get("reason") for one in events]
    server.wait_for("nobody lacks carrel")
    logged = [json.loads(line) for line in server.lines]
    [line] = [one for one in logged if one.get("principal") == "mallory"]
    assert "403 insufficient-scope" in line["message"]


@ERAS
def test_resources_and_prompts_outside_the_scopes_are_not_there(
    server: HttpServer, issuer: Issuer, is_modern: bool
) -> None:
    alice = person(server, issuer, "alice", "carrel:arxiv", is_modern=is_modern)
    everyone = person(server, issuer, "carol", "carrel:all", is_modern=is_modern)
    of_alice = {one["uri"] for one in alice.ask("resources/list")["result"]["resources"]}
    of_all = {one["uri"] for one in everyone.ask("resources/list")["result"]["resources"]}
    assert "library://references" in of_all
    assert "library://references" not in of_alice
    templates = alice.ask("resources/templates/list")["result"]["resourceTemplates"]
    assert not [one for one in templates if one["uriTemplate"].startswith("library:")]
    for uri in {*of_all, "library://reference/secret"} - of_alice:
        answer = alice.ask("resources/read", uri=uri)
        assert "no such resource" in answer["error"]["message"], uri


@ERAS
def test_the_health_of_a_principal_has_its_own_plugins_only(
    server: HttpServer, issuer: Issuer, is_modern: bool
) -> None:
    alice = person(server, issuer, "alice", "carrel:arxiv", is_modern=is_modern)
    contents = alice.ask("resources/read", uri="carrel://health")["result"]["contents"]
    health = json.loads(contents[0]["text"])
    assert [one["name"] for one in health["plugins"]] == ["arxiv"]


@ERAS
@pytest.mark.requirement("identity:apart:library")
def test_each_principal_has_a_library_of_its_own(
    server: HttpServer, issuer: Issuer, folder: Path, is_modern: bool
) -> None:
    names = [f"{name}-{is_modern}" for name in ("ann", "ben")]
    people = {
        name: person(server, issuer, name, "carrel:all", is_modern=is_modern) for name in names
    }
    for name, who in people.items():
        added = who.call("library_add", inputs=[DESK % name])
        assert not added["result"].get("isError"), added
    for name, who in people.items():
        listed = json.dumps(who.call("library_list")["result"])
        assert f"The tidy desk of {name}" in listed
        assert len([one for one in names if one in listed]) == 1
        assert "Ours" not in listed, "nobody sees the operator's library"
        read = json.dumps(who.ask("resources/read", uri="library://references")["result"])
        assert f"The tidy desk of {name}" in read
        assert len([one for one in names if one in read]) == 1
        file = folder / "data" / "principals" / folder_name(name) / "library.json"
        assert name in file.read_text("utf-8")
    assert "tidy desk" not in (folder / "operator.json").read_text("utf-8")


@ERAS
def test_scopes_of_each_request_count_not_those_of_the_session(
    server: HttpServer, issuer: Issuer, is_modern: bool
) -> None:
    dora = person(server, issuer, "dora", "carrel:all", is_modern=is_modern)
    assert "library_list" in dora.tools()
    dora.authorization = bearer(issuer.token(sub="dora", scope="carrel carrel:arxiv"))
    assert "library_list" not in dora.tools()
    assert dora.send("tools/call", {"name": "library_list", "arguments": {}}).status_code == 403
    dora.authorization = bearer(issuer.token(sub="dora", scope="carrel carrel:library"))
    assert "library_list" in dora.tools()


def test_the_first_response_names_no_tool_outside_the_scopes(
    server: HttpServer, issuer: Issuer
) -> None:
    alice = person(server, issuer, "alice", "carrel:arxiv", is_modern=False)
    assert "library_" not in alice.initialize_result["instructions"]
    assert "crossref" not in alice.initialize_result["instructions"]


def test_changes_of_a_library_are_announced_to_its_principal_only(
    server: HttpServer, issuer: Issuer, folder: Path
) -> None:
    streams = {}
    for name in ("eve", "fay"):
        who = person(server, issuer, name, "carrel:library", is_modern=False)
        who.call("library_list")
        assert "result" in who.ask("resources/subscribe", uri="library://references")
        streams[name] = Stream(server, {**who.session, **who.authorization})
    for name, stream in streams.items():
        file = folder / "data" / "principals" / folder_name(name) / "library.json"
        write_library(file, item())
        stream.wait_for("notifications/resources/updated")
        stream.close()
        if name == "eve":
            assert "updated" not in streams["fay"].text


def test_documents_outside_the_scopes_cannot_be_subscribed_to(
    server: HttpServer, issuer: Issuer
) -> None:
    alice = person(server, issuer, "alice", "carrel:arxiv", is_modern=False)
    refused = alice.ask("resources/subscribe", uri="library://references")
    assert refused["error"]["message"] == "no such resource"
    modern = person(server, issuer, "alice", "carrel:arxiv", is_modern=True)
    asked = {"resourceSubscriptions": ["library://references"], "toolsListChanged": True}
    params = {"notifications": asked, "_meta": envelope()}
    headers = {
        **modern_headers("subscriptions/listen"),
        **modern.authorization,
        "accept": BOTH,
        "content-type": "application/json",
    }
    body = json.dumps(request("subscriptions/listen", params)).encode()
    with server.http.stream("POST", server.url, content=body, headers=headers) as stream:
        assert stream.status_code == 200
        line = next(one for one in stream.iter_lines() if "acknowledged" in one)
    acknowledged = json.loads(line.removeprefix("data:"))["params"]["notifications"]
    assert acknowledged["toolsListChanged"] is True
    assert not acknowledged.get("resourceSubscriptions")


def kept_event(who: Person) -> dict[str, str]:
    """Calls a tool of the session with a stream; returns the headers that ask for it again."""
    params = {"name": "library_list", "arguments": {}}
    headers = {**who.session, **who.authorization, "accept": BOTH}
    response = who.server.post(request("tools/call", params, id_="kept"), headers=headers)
    assert "result" in answer_of(response)
    first = next(line for line in response.text.splitlines() if line.startswith("id:"))
    return {**who.session, "last-event-id": first.removeprefix("id:").strip()}


def test_kept_answers_are_not_replayed_for_a_token_that_lost_a_scope(
    server: HttpServer, issuer: Issuer
) -> None:
    gail = person(server, issuer, "gail", "carrel:arxiv", is_modern=False)
    narrow = gail.authorization
    gail.authorization = bearer(issuer.token(sub="gail", scope="carrel carrel:all"))
    fields = {**kept_event(gail), "accept": "text/event-stream"}
    for scope in ("carrel carrel:arxiv", "carrel carrel:library"):
        token = bearer(issuer.token(sub="gail", scope=scope))
        refused = server.http.get(server.url, headers={**fields, **token})
        assert refused.status_code == 403, refused.text
        wanted = 'scope="carrel carrel:all carrel:arxiv"'
        assert wanted in refused.headers["www-authenticate"]
        assert "result" not in refused.text
    replayed = server.http.get(server.url, headers={**fields, **gail.authorization})
    assert answer_of(replayed)["id"] == "kept"
    streaming = Stream(server, {**gail.session, **narrow})  # it has no kept answers
    streaming.close()


def test_streams_end_when_their_token_expires(server: HttpServer, issuer: Issuer) -> None:
    end = time.monotonic() + 30
    soon = int(time.time()) - 28  # 30 s later, by `identity.leeway_seconds`, it is refused
    token = issuer.token(sub="hal", scope="carrel carrel:all", exp=soon)
    hal = Person(server, token, is_modern=False)
    stream = Stream(server, {**hal.session, **hal.authorization})
    headers = {
        **modern_headers("subscriptions/listen"),
        **hal.authorization,
        "accept": BOTH,
        "content-type": "application/json",
    }
    params = {"notifications": {"toolsListChanged": True}, "_meta": envelope()}
    body = json.dumps(request("subscriptions/listen", params)).encode()
    with server.http.stream("POST", server.url, content=body, headers=headers) as listening:
        assert listening.status_code == 200
        received = ""
        for text in listening.iter_text():  # a comment comes every 15 s
            received += text
            assert time.monotonic() < end, "the stream did not end"
        assert "acknowledged" in received
    stream.join(30)
    assert not stream.is_alive()
    stream.close()
    server.wait_for(r"closed a stream of \S+ \(hal\): its token has expired")
    assert server.http.get(server.url, headers=hal.session | hal.authorization).status_code == 401
