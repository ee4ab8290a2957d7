"""Tests the log as JSON: its members, and that no secret and no control character is in it."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from carrel.config import load_config
from carrel.credentials import find_secret
from carrel.principal import Principal, acting_as
from carrel.server.operations.json_log import JsonFormatter
from carrel.server.operations.redaction import REMOVED, LogRedactor, secrets_in
from carrel.server.operations.request_facts import RequestFacts, Serving
from carrel.server.stderrlog import StderrLog
from support.http_server import in_session, request
from support.operated_server import HOST, SECRET, OperatedServer
from support.upstream import Reply, Upstream

pytestmark = pytest.mark.long("servers")

TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJlLW9mLWFubmE"


def formatted(message: str, *args: object, **more: Any) -> dict[str, Any]:
    record = logging.makeLogRecord(
        {"msg": message, "args": args, "name": "carrel.x", "levelno": 30, "levelname": "WARNING"}
        | more
    )
    line = JsonFormatter(LogRedactor([SECRET])).format(record)
    assert "\n" not in line
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u202e]", line)
    members: dict[str, Any] = json.loads(line)
    return members


def test_a_line_has_its_members() -> None:
    facts = RequestFacts("tools/call", {"name": "echo"}, 7, "abcdefghijkl")
    facts.trace_id = "a" * 32
    with acting_as(Principal("anna")), Serving(facts):
        members = formatted("a %s", "thing")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", members.pop("time"))
    assert members == {
        "level": "warning",
        "logger": "carrel.x",
        "message": "a thing",
        "principal": "anna",
        "session": "abcdefgh…",
        "request_id": "7",
        "method": "tools/call",
        "tool": "echo",
        "trace_id": "a" * 32,
    }


def test_a_line_without_a_request_has_no_principal() -> None:
    assert formatted("x").keys() == {"time", "level", "logger", "message"}


def test_control_characters_are_escaped_and_the_value_is_kept() -> None:
    text = 'a\nb\x1b[2J"\\\x00\x7f\x85\u2028\u202e'
    assert formatted("%s", text)["message"] == text


def test_a_traceback_is_a_member() -> None:
    try:
        int(f"with {SECRET} in it")
    except ValueError as error:
        members = formatted("it failed", exc_info=(type(error), error, error.__traceback__))
    assert "'with [redacted] in it'" in members["exception"]


def test_a_client_s_names_are_short_and_printable() -> None:
    facts = RequestFacts("tools/call", {"name": "t" * 500 + "\x1b"}, "i" * 500, "s" * 64)
    assert len(facts.tool or "") < 130
    assert len(facts.request_id or "") < 102
    assert facts.session == "ssssssss…"
    assert RequestFacts("a\nb").method == "a b"
    assert RequestFacts("ping", {"name": "x"}).tool is None
    assert RequestFacts("tools/call", {"name": ["x"]}).tool is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"key {SECRET}", f"key {REMOVED}"),
        (f"Authorization: Bearer {TOKEN}", f"Authorization: Bearer {REMOVED}"),
        ("authorization: basic dXNlcjpwYXNz", f"authorization: basic {REMOVED}"),
        (f"token {TOKEN} is wrong", f"token {REMOVED} is wrong"),
        ("GET /x?api_key=abcd1234&q=1", f"GET /x?api_key={REMOVED}&q=1"),
        ('{"client_secret": "abcd1234"}', f'{{"client_secret": "{REMOVED}"}}'),
        ("redis://user:pass-word@host:6379/0", f"redis://user:{REMOVED}@host:6379/0"),
        ("rediss://:pass-word@host", f"rediss://:{REMOVED}@host"),
        ("redis://u:p@ss@host:1/0", f"redis://u:{REMOVED}@host:1/0"),
        ("sent Authorization: Bearer abcdefgh1", f"sent Authorization: Bearer {REMOVED}"),
        ("sent Authorization: abcdefgh1", f"sent Authorization: {REMOVED}"),
        ('{"authorization": "Basic dXNlcjpw"}', f'{{"authorization": "Basic {REMOVED}"}}'),
        ("X-Api-Key: abcd1234", f"X-Api-Key: {REMOVED}"),
        ("headers x-els-apikey=abcd1234", f"headers x-els-apikey={REMOVED}"),
        ("Cookie: a=abcd1234; b=efgh", f"Cookie: {REMOVED}"),
        ("{'set-cookie': 'a=abcd1234; Secure'}", f"{{'set-cookie': '{REMOVED}'}}"),
        ("401 invalid-token: the token has expired", None),
        ("a token is needed; send Authorization: Bearer TOKEN", None),
        ("an ordinary line: token bucket, https://example.org/a:b", None),
        ("unexpected token: a comma; password rules", None),
    ],
)
def test_credentials_are_removed_by_value_and_by_form(text: str, shown: str | None) -> None:
    assert LogRedactor([SECRET])(text) == (text if shown is None else shown)


def test_secrets_of_the_environment_are_known() -> None:
    env = {
        "CARREL_SECRET_ARXIV_KEY": "one-one-one",
        "MCP_AUTH_SECRET_KEY": "two-two-two",
        "NCBI_API_KEY": "three-three",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=four-four,x=five-five-5",
        "CARREL_LOG_LEVEL": "warning",
        "CARREL_SECRET_EMPTY": " ",
    }
    redact = LogRedactor(secrets_in(env))
    text = "one-one-one two-two-two three-three four-four five-five-5 warning"
    assert redact(text) == f"{REMOVED} {REMOVED} {REMOVED} {REMOVED} {REMOVED} warning"


#: Settings with a secret → what reads it. Each value is read here as a running server reads it.
HOLDERS: dict[str, Callable[[str, Path], object]] = {
    "CARREL_SECRET_<PLUGIN>_<NAME>": lambda value, _: find_secret(
        "lists", "key", env={"CARREL_SECRET_LISTS_KEY": value}
    ),
    "NCBI_API_KEY": lambda value, _: find_secret(
        "eutils", "api_key", builtin=True, env={"NCBI_API_KEY": value}
    ),
    "keyring": lambda value, _: find_secret("lists", "key", env={}, keyring=_Keyring(value)),
    "CARREL_STORE_PASSWORD": lambda value, folder: _store(
        folder, env={"CARREL_STORE_PASSWORD": value}
    ),
    "store.url": lambda value, folder: _store(
        folder, url=f"redis://carrel:{quote(value, safe='')}@127.0.0.1:1/0"
    ),
    "store.password_file": lambda value, folder: _store(folder, password_file=value),
}

_plain = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=8, max_size=40)


class _Keyring:
    def __init__(self, value: str) -> None:
        self._value = value

    def get_password(self, _service: str, _username: str, /) -> str | None:
        return self._value


def _store(
    folder: Path, *, url: str = "redis://127.0.0.1:1/0", env: Any = None, password_file: str = ""
) -> None:
    values: dict[str, Any] = {"url": url}
    if password_file:
        (folder / "password").write_text(password_file)
        values["password_file"] = "password"
    (folder / "carrel.json").write_text(json.dumps({"store": values}))
    config = load_config(folder / "carrel.json", env or {})
    assert config.store is not None
    assert config.store.read_password()


@pytest.mark.requirement("operate:secrets:log")
@pytest.mark.parametrize("holder", HOLDERS)
@settings(
    max_examples=20,
    suppress_health_check=list(HealthCheck),
    deadline=None,
    phases=[Phase.generate],  # shrinking would remember thousands of values
)
@given(value=_plain, before=_plain, after=_plain)
def test_what_a_setting_holds_is_in_no_line(
    holder: str, value: str, before: str, after: str, tmp_path: Path
) -> None:
    HOLDERS[holder](value, tmp_path)
    redact = LogRedactor()
    for spelled in (value, quote(value, safe=""), json.dumps(value)[1:-1], repr(value)[1:-1]):
        for text in (spelled, f"{before} {spelled} {after}", f"({spelled})", f"x={spelled}&y"):
            assert spelled not in redact(text), text
    shown = formatted("%s", f"it failed: {value}")
    assert value not in shown["message"]


@given(value=_plain)
def test_secrets_of_variables_are_in_no_line(value: str) -> None:
    names = ("CARREL_SECRET_X", "MCP_AUTH_SECRET_KEY", "CARREL_STORE_PASSWORD", "COSIGN_PASSWORD")
    for name in (*names, "OTEL_EXPORTER_OTLP_HEADERS"):
        given_value = f"authorization={value}" if name.startswith("OTEL") else value
        redact = LogRedactor(secrets_in({name: given_value}))
        assert value not in redact(f"a line {value}") or "," in value, name


#: What Python itself writes to stderr: of a thread that fails, of a finalizer, and a warning.
_FAULTS = """
import sys, threading, warnings
from carrel.server.stderrlog import logging_to_stderr

class Finalized:
    def __del__(self):
        raise ValueError("finalizer " + sys.argv[2])

def fail():
    raise ValueError("thread " + sys.argv[2])

with logging_to_stderr("warning", sys.argv[1]):
    thread = threading.Thread(target=fail, name="t")
    thread.start()
    thread.join()
    Finalized()
    warnings.warn("warning " + sys.argv[2])
"""


@pytest.mark.requirement("operate:secrets:log")
@pytest.mark.parametrize("form", ["json", "text"])
def test_what_python_itself_reports_is_a_log_line(form: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", _FAULTS, form, SECRET],
        env={**os.environ, "CARREL_SECRET_PROBE_KEY": SECRET},
        capture_output=True,
        text=True,
        check=True,
    )
    assert SECRET not in done.stderr
    for one in ("finalizer", "thread", "warning"):
        assert f"{one} {REMOVED}" in done.stderr
    if form == "json":
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        assert [line["level"] for line in lines] == ["error", "error", "warning"]
        assert ["exception" in line for line in lines] == [True, True, False]


def test_lost_lines_are_counted() -> None:
    handler = StderrLog()
    handler._lines.maxsize = 1
    handler._lines.mutex.acquire()  # the writer cannot take a line
    handler._lines.mutex.release()
    before = handler.lost
    for _ in range(50_000):
        handler.emit(
            logging.makeLogRecord({"msg": "", "levelno": 10, "levelname": "DEBUG", "name": "x"})
        )
        if handler.lost > before:
            break
    assert handler.lost > before


# A whole server, with secrets in every place


@pytest.fixture(scope="module")
def lines(server: OperatedServer, upstream: Upstream) -> list[dict[str, Any]]:
    """Puts secrets where a client and an upstream can, and returns the server's log."""
    leak = Reply(
        500,
        headers=[("x-echo", SECRET), ("location", f"https://{HOST}/?api_key={SECRET}")],
        body=SECRET.encode(),
    )
    upstream.on("/v1/leak", leak)
    upstream.on("/v1/moved", Reply(302, headers=[("location", f"/v1/?api_key={SECRET}")]))
    bearer = {"authorization": f"Bearer {TOKEN}", "cookie": f"session={TOKEN}"}
    for path in ("leak", "moved", f"x?token={TOKEN}", f"y?api_key={SECRET}"):
        server.open(f"https://{HOST}/v1/{path}", headers=bearer, id_=f"id-{TOKEN}")
    server.open(f"https://user:{SECRET}@{HOST}/v1/x", headers=bearer)
    server.call(f"tool-{SECRET}", {"password": SECRET}, headers=bearer)
    server.post(request(f"method/{SECRET}", {"token": TOKEN}), headers=bearer)
    server.post(f"no json {SECRET}".encode(), headers=bearer)
    server.post(request("ping"), headers={**bearer, "host": f"{SECRET}.example.org"})
    session = server.initialize()
    server.post(request("tools/list"), headers={**bearer, **in_session(f"{session}{SECRET}")})
    server.http.get(f"{server.root}/metrics?token={TOKEN}", headers=bearer)
    server.http.get(f"{server.root}/{SECRET}?token={TOKEN}", headers=bearer)
    server.open(f"https://{HOST}/v1/paper", id_="last", session=session)
    server.wait_for(r'"request_id":"last"')
    return [json.loads(line) for line in server.lines]


def test_every_line_is_an_object(lines: list[dict[str, Any]]) -> None:
    assert all({"time", "level", "logger", "message"} <= line.keys() for line in lines)
    assert any(line["message"].startswith("serving http://127.0.0.1:") for line in lines)


@pytest.mark.requirement("operate:secrets:log")
def test_no_line_has_a_secret(lines: list[dict[str, Any]], server: OperatedServer) -> None:
    assert len(lines) > 10
    for line in server.lines:
        assert SECRET not in line
        assert TOKEN not in line
        assert TOKEN.split(".")[2] not in line


def test_lines_of_a_call_have_who_and_what(lines: list[dict[str, Any]]) -> None:
    [line, *_] = [one for one in lines if one["logger"] == "carrel.fetch" and "fetch" in one]
    assert line["principal"] == "local"
    assert line["tool"] == "probe_open"
    assert line["method"] == "tools/call"
    assert re.fullmatch(r"[0-9a-f]{32}", line["trace_id"])
    assert line["fetch"]["host"] == HOST
    last = [one for one in lines if one.get("request_id") == "last"]
    assert all(re.fullmatch(r".{8}…", one["session"]) for one in last)


def test_the_audit_log_and_the_page_have_no_secret(
    lines: list[dict[str, Any]], server: OperatedServer
) -> None:
    audit = (server.folder / "audit.jsonl").read_text("utf-8")
    assert '"reason":' in audit
    for text in (audit, json.dumps(server.status()), server.metrics()):
        assert SECRET not in text
        assert TOKEN not in text


def test_a_file_of_the_audit_log_is_its_owner_s(server: OperatedServer) -> None:
    file: Path = server.folder / "audit.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
