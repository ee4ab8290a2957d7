"""Tests two principals at a server with real tools: each tries to reach everything of the other."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carrel.config.model import DEFAULT_PLUGINS
from carrel.papers.store import PaperEntry, PaperStore
from carrel.records import parse_id
from carrel.server.identity.roots import folder_name
from support.http_server import HttpServer, answer_of, notification, request
from support.issuers import RESOURCE, Issuer, bearer
from support.operated_server import eventually
from support.person import Person, person

ERAS = pytest.mark.parametrize("is_modern", [True, False], ids=["2026-07-28", "session"])


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def server(issuer: Issuer, folder: Path, code_folder: Path) -> Iterator[HttpServer]:
    settings = {
        "cache_dir": str(code_folder),
        "data_dir": str(folder / "data"),
        "replay_dir": str(folder),
        "plugins": {name: {"url": f"builtin:{name}", "enabled": False} for name in DEFAULT_PLUGINS},
        "library": {"file": str(folder / "operator.json")},
        "papers": {"folder": str(folder / "papers")},
        "web": {"research": True},
        "http": {"metrics_by_principal": True},
        "identity": {
            "issuer": issuer.url,
            "resource": RESOURCE,
            "plain_http": True,
            "private": True,
            "burst": 1000,
            "required_scopes": ["carrel"],
        },
    }
    path = folder / "carrel.json"
    path.write_text(json.dumps(settings), "utf-8")
    words = [sys.executable, "-m", "carrel", "serve", "--config", str(path)]
    with HttpServer([*words, "--http", "127.0.0.1:0"]) as server:
        yield server


class Team:
    """Two principals that each have a library, a paper, a session of research and an artifact.

    Attributes:
        people: by name.
        marks: a word of each that is in everything it has.
        received: everything that each received.
    """

    def __init__(self, server: HttpServer, issuer: Issuer, folder: Path, era: str) -> None:
        names = [f"ann-{era}", f"ben-{era}"]
        is_modern = era == "modern"
        self.people = {
            name: person(server, issuer, name, "carrel", is_modern=is_modern) for name in names
        }
        self.marks = {name: f"mark-of-{name}" for name in names}
        self.received: dict[str, list[str]] = {name: [] for name in names}
        self.sessions: dict[str, str] = {}
        self.artifacts: dict[str, str] = {}
        for name in names:
            self._furnish(name, folder / "data" / "principals" / folder_name(name))

    def call(self, name: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """Calls a tool, and remembers the response."""
        return self.ask(name, "tools/call", name=tool, arguments=arguments)

    def ask(self, who: str, method: str, **params: Any) -> dict[str, Any]:
        """Sends a request, and remembers the response."""
        answer = self.people[who].ask(method, **params)
        self.received[who].append(json.dumps(answer))
        return answer

    def good(self, name: str, tool: str, **arguments: Any) -> Any:
        """Calls a tool that must succeed; returns its structured content."""
        result = self.call(name, tool, **arguments)["result"]
        assert not result.get("isError"), result
        return result["structuredContent"]

    def _furnish(self, name: str, root: Path) -> None:
        mark = self.marks[name]
        entry = f"@article{{desk, title = {{{mark}}}, author = {{Marlow, Ada}}, year = 2019}}"
        self.good(name, "library_add", inputs=[entry])
        store = PaperStore.open(root / "papers", root / "index")
        store.write(
            parse_id("10.5555/desk"),
            PaperEntry(
                title=mark,
                authors=("Ada Reader",),
                year=2024,
                fetched={"source": "unpaywall"},
                doi="10.5555/desk",
            ),
        )
        store.close()
        for number in range(1, 6):
            more = {"research_goal": mark} if number == 1 else {"session_id": self.sessions[name]}
            step = self.good(
                name,
                "research_step",
                search_step=f"{mark} {'x' * 7000}",
                step_number=number,
                next_step_needed=True,
                **more,
            )
            self.sessions[name] = step["session_id"]
        exported = self.good(name, "research_export", session_id=self.sessions[name], format="json")
        self.artifacts[name] = exported["resource"]


@pytest.fixture(scope="module", params=["modern", "session"])
def team(request: pytest.FixtureRequest, server: HttpServer, issuer: Issuer, folder: Path) -> Team:
    return Team(server, issuer, folder, request.param)


def pairs(team: Team) -> list[tuple[str, str]]:
    one, other = team.people
    return [(one, other), (other, one)]


@pytest.mark.requirement("identity:apart:artifacts")
def test_an_artifact_is_read_by_its_principal_only(team: Team) -> None:
    for name, other in pairs(team):
        uri = team.artifacts[name]
        assert uri.startswith("research://artifact/")
        own = team.ask(name, "resources/read", uri=uri)["result"]["contents"][0]["text"]
        assert team.marks[name] in own
        assert json.loads(own)["tenant_id"] == name
        refused = team.ask(other, "resources/read", uri=uri)
        assert "no such resource" in refused["error"]["message"]
        listed = team.ask(other, "resources/list")
        assert uri not in json.dumps(listed)


def test_a_session_of_research_is_its_principal_s(team: Team) -> None:
    for name, other in pairs(team):
        id_ = team.sessions[name]
        assert team.good(name, "research_session", session_id=id_)["step_count"] == 5
        step = {"search_step": "x", "step_number": 6, "next_step_needed": True}
        for tool, arguments in (
            ("research_session", {}),
            ("research_session", {"step_id": 1}),
            ("research_export", {"format": "json"}),
            ("research_step", step),
        ):
            refused = team.call(other, tool, session_id=id_, **arguments)["result"]
            assert refused["isError"], tool
        assert team.good(name, "research_session", session_id=id_)["step_count"] == 5


def test_the_same_call_of_two_principals_has_two_results(team: Team) -> None:
    """Neither the cache of results nor that of lists serves one what the other asked for."""
    for tool, arguments in (
        ("library_list", {}),
        ("library_search", {"query": "mark"}),
        ("paper_list_recent", {}),
        ("paper_search_local", {"query": "mark"}),
        ("paper_info", {"ref": "10.5555/desk"}),
    ):
        for _ in range(2):
            for name, other in pairs(team):
                text = json.dumps(team.good(name, tool, **arguments))
                assert team.marks[name] in text, tool
                assert team.marks[other] not in text, tool


def test_what_one_writes_changes_nothing_of_the_other(team: Team) -> None:
    for name, other in pairs(team):
        before = team.good(other, "library_list")
        team.good(name, "library_add", inputs=[f"@book{{more, title = {{{team.marks[name]} 2}}}}"])
        removed = team.call(name, "library_remove", references=["desk"], confirm=True)
        assert "result" in removed
        assert team.good(other, "library_list") == before


@pytest.mark.requirement("identity:apart:folders")
def test_what_a_principal_has_is_in_its_folder_only(
    team: Team, folder: Path, code_folder: Path
) -> None:
    """Also the search indexes, so that removing the folder removes everything."""
    for name, _ in pairs(team):
        team.good(name, "library_search", query=team.marks[name])
        team.good(name, "paper_search_local", query=team.marks[name])
    principals = folder / "data" / "principals"
    for root in (folder, code_folder):
        for path in root.rglob("*"):
            if path.is_file() and not path.is_relative_to(principals):
                data = path.read_bytes()
                assert not [one for one in team.marks.values() if one.encode() in data], path


def test_no_response_to_one_principal_has_data_of_the_other(team: Team, server: HttpServer) -> None:
    """Runs last: everything that the tests above received, and what a principal can list."""
    for name, other in pairs(team):
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            team.ask(name, method)
        team.ask(name, "resources/read", uri="carrel://health")
        team.ask(name, "resources/read", uri="library://references")
        root = server.url.removesuffix("/mcp")
        for path in ("/status.json", "/readyz", "/metrics"):
            shown = server.http.get(root + path, headers=team.people[name].authorization)
            team.received[name].append(shown.text)
        for text in team.received[name]:
            assert team.marks[other] not in text
            assert not re.search(rf"\b{re.escape(other)}\b", text)
            assert folder_name(other) not in text


def test_folders_of_principals_are_read_by_the_server_only(team: Team, folder: Path) -> None:
    root = folder / "data" / "principals"
    assert len(list(root.iterdir())) >= len(team.people)
    for one in (root, *root.iterdir()):
        assert one.stat().st_mode & 0o077 == 0, one


# Requests that run, at a server whose tools wait


@pytest.fixture(scope="module")
def waiting(issuer: Issuer) -> Iterator[HttpServer]:
    identity = {"issuer": issuer.url, "resource": RESOURCE, "plain_http": True, "private": True}
    with HttpServer(identity=identity) as server:
        yield server


def test_a_principal_cannot_cancel_or_join_the_call_of_another(
    waiting: HttpServer, issuer: Issuer
) -> None:
    """Both use the same request id and the same progress token."""
    people = {
        name: Person(waiting, issuer.token(sub=name), is_modern=False) for name in ("ann", "ben")
    }
    answers: dict[str, str] = {}

    def call(name: str) -> None:
        who = people[name]
        params = {
            "name": "wait",
            "arguments": {"key": name},
            "_meta": {"progressToken": "same"},
        }
        headers = {**who.session, **who.authorization}
        while True:
            answer = waiting.post(request("tools/call", params, id_="same"), headers=headers)
            if answer.status_code != 400:  # else `is_in_use` was using the id
                break
        answers[name] = answer.text

    threads = {name: threading.Thread(target=call, args=(name,)) for name in people}
    for thread in threads.values():
        thread.start()
    for who in people.values():
        eventually(lambda who=who: is_in_use(waiting, who))
    cancelled = notification("notifications/cancelled", {"requestId": "same"})
    ben = {**people["ben"].session, **people["ben"].authorization}
    assert waiting.post(cancelled, headers=ben).is_success
    threads["ben"].join(20)
    assert "ann" not in answers, "the call of another continues"
    foreign = {**ben, **people["ann"].session}
    assert waiting.post(cancelled, headers=foreign).status_code == 404
    assert threads["ann"].is_alive()
    waiting.call("release", {"key": "ann"}, headers=people["ann"].authorization)
    threads["ann"].join(20)
    assert '"error"' not in answers["ann"]
    assert "ben" not in answers["ann"]


def is_in_use(server: HttpServer, who: Person) -> bool:
    """Returns whether the session's id is in use: then a second request with it is refused."""
    headers = {**who.session, **who.authorization}
    return server.post(request("ping", id_="same"), headers=headers).status_code == 400


def test_a_call_of_the_sdk_s_way_is_its_sender_s(server: HttpServer, issuer: Issuer) -> None:
    """A session's later requests have the scopes of their own token, on either path."""
    who = person(server, issuer, "cid", is_modern=False)
    params = {
        "name": "library_list",
        "arguments": {},
        "_meta": {"progressToken": 1},
    }  # no plain call
    headers = {**who.session, **bearer(issuer.token(sub="cid", scope="carrel other"))}
    answer = answer_of(server.post(request("tools/call", params), headers=headers))
    assert answer["result"]["structuredContent"]["total"] == 0
