"""Tests `/healthz` and `/readyz`: reasons, drain, reloads; and that neither reveals a secret."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from carrel.config import HttpConfig, ServerConfig
from carrel.errors import CarrelError, ConfigError, StateError, StorageError
from carrel.server.operations.exposition import Exposition
from carrel.server.operations.operations import Operations
from carrel.server.toolbox_loader import ToolboxLoader
from carrel.tools import Toolbox
from support.http_server import HttpServer, answer_of
from support.operated_server import HOST, OperatedServer, an_upstream, eventually
from support.scripted_toolbox import ScriptedToolbox, as_toolbox
from support.upstream import Reply

pytestmark = pytest.mark.long("servers")


def ready(server: HttpServer) -> tuple[int, Any]:
    answer = server.http.get(server.url.removesuffix("/mcp") + "/readyz")
    return answer.status_code, answer.json()


def test_the_probes_say_why(tmp_path: Path) -> None:
    gone = StateError("redis://h", "refused")
    view = Operations(ServerConfig(), HttpConfig(), store_health=lambda: gone)
    assert view.gauges.readiness().reasons == ("starting", "store")
    view.gauges.is_draining = True
    assert view.gauges.readiness().reasons == ("draining", "starting", "store")


def test_a_store_that_raises_is_a_store_that_does_not_answer() -> None:
    def broken() -> CarrelError | None:
        raise StorageError("/x", "gone")

    view = Operations(ServerConfig(), HttpConfig(), store_health=broken)
    assert "store" in view.gauges.readiness().reasons


def test_a_store_without_room_leaves_the_server_ready_and_is_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It still serves rate limits. If it did not, every replica would be taken out at once."""
    full = StateError("redis://h", "the server's memory is full", is_full=True)
    view = Operations(ServerConfig(), HttpConfig(), store_health=lambda: full)
    assert view.gauges.readiness().reasons == ("starting",)
    exposition = Exposition(view.metrics.families(), view.gauges.collect).text()
    assert "carrel_store_up 0" in str(exposition)
    assert "the store cannot be used: redis://h: the server's memory is full" in caplog.text


def test_tools_that_cannot_be_loaded_are_a_reason_and_an_error_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without ready tools a load balancer sends no request, whose answer would report the fault."""
    faults = ["web.lens_folder: /lenses is no folder"]

    def make() -> Toolbox:
        if faults:
            raise ConfigError(faults)
        return as_toolbox(ScriptedToolbox())

    async def start(loader: ToolboxLoader) -> None:
        await asyncio.wait([loader.start()])
        await asyncio.sleep(0)

    loader = ToolboxLoader(make)
    view = Operations(ServerConfig(), HttpConfig())
    view.attach(loader)
    for _ in range(2):
        asyncio.run(start(loader))
        assert view.gauges.readiness().reasons == ("failed",)
    [message] = [record.message for record in caplog.records]  # one line for equal failures
    assert "the tools cannot be loaded: web.lens_folder: /lenses is no folder" in message
    faults.clear()
    asyncio.run(start(loader))
    assert view.gauges.toolbox is not None


def test_the_store_is_not_asked_for_every_probe() -> None:
    asked: list[int] = []
    view = Operations(ServerConfig(), HttpConfig(), store_health=lambda: asked.append(1))
    for _ in range(20):
        view.gauges.readiness()
    assert len(asked) == 1


def test_a_ready_server_counts_its_plugins(server: OperatedServer) -> None:
    status, body = ready(server)
    assert status == 200
    assert body["status"] == "ready"
    assert body["plugins"]["ready"] == 1
    health = server.http.get(f"{server.root}/healthz")
    assert health.json() == {"status": "ok"}
    assert health.headers["cache-control"] == "no-store"


def test_a_server_drains_before_it_stops() -> None:
    with HttpServer(server={"drain_seconds": 30, "log_level": "warning"}) as server:
        eventually(lambda: ready(server)[0] == 200)
        waiting = threading.Thread(target=server.call, args=("wait", {"key": "k"}))
        waiting.start()
        session = server.initialize()
        os.kill(server.process.pid, signal.SIGTERM)
        eventually(lambda: ready(server)[0] == 503)
        assert ready(server)[1]["reasons"] == ["draining"]
        assert server.http.get(server.url.removesuffix("/mcp") + "/healthz").status_code == 200
        # Calls are served as before.
        assert "result" in answer_of(server.call("echo", {"value": 1}))
        assert "result" in answer_of(server.call("echo", {"value": 1}, session=session))
        assert server.process.poll() is None
        os.kill(server.process.pid, signal.SIGTERM)  # ends the drain
        eventually(lambda: server.http.get(server.url).status_code == 503)
        started = time.monotonic()
        assert server.ended()[0] == 0
        assert time.monotonic() - started < 20
        waiting.join(10)


def test_a_drain_ends_after_its_time() -> None:
    with HttpServer(server={"drain_seconds": 0.5, "log_level": "warning"}) as server:
        assert server.stop()[0] == 0
        server.wait_for("draining for 0.5 s: /readyz answers with 503")


def test_a_failed_reload_is_reported_and_the_old_configuration_serves(
    tmp_path: Path, code_folder: Path
) -> None:
    with an_upstream() as upstream:
        upstream.on("/v1/paper", Reply(body=b"a paper"))
        with OperatedServer(tmp_path, upstream, code_folder) as server:
            server.ready()
            good = server.file.read_text()
            server.file.write_text('{"plugins": {"probe": {"enabled": "s3cret-word"}}}')
            os.kill(server.process.pid, signal.SIGHUP)
            eventually(lambda: ready(server)[1].get("reload", {}).get("ok") is False)
            status, body = ready(server)
            assert status == 200  # the previous configuration works
            assert body["reload"]["code"] == "config"
            assert body["reload"].keys() == {"ok", "at", "code"}
            assert "carrel_config_last_reload_successful 0" in server.metrics()
            assert 'carrel_config_reloads_total{result="failed"}' in server.metrics()
            assert "result" in server.open(f"https://{HOST}/v1/paper")
            assert "enabled" in server.status()["server"]["reload"]["error"]["message"]

            server.file.write_text(good)
            os.kill(server.process.pid, signal.SIGHUP)
            eventually(lambda: ready(server)[1]["reload"]["ok"] is True)
            assert "carrel_config_last_reload_successful 1" in server.metrics()
            assert server.stop()[0] == 0


def test_a_reload_names_changed_settings_that_need_a_restart(
    tmp_path: Path, code_folder: Path
) -> None:
    """Otherwise an operator who takes a scope away would believe that it is no longer granted."""
    with an_upstream() as upstream, OperatedServer(tmp_path, upstream, code_folder) as server:
        server.ready()
        server.configure(limits={"cpu_seconds": 5})
        server.wait_for("configuration reloaded")
        assert not [line for line in server.lines if "need a restart" in line]
        server.configure(http={"page": False}, identity={"burst": 7}, limits={})
        server.wait_for("changed settings of http, identity need a restart")
        assert server.http.get(f"{server.root}/").status_code == 200  # as at the start


def test_the_store_of_the_present_configuration_is_asked(tmp_path: Path, code_folder: Path) -> None:
    with an_upstream() as upstream, OperatedServer(tmp_path, upstream, code_folder) as server:
        server.ready()
        server.configure(store="redis://127.0.0.1:1")
        os.kill(server.process.pid, signal.SIGHUP)
        eventually(lambda: ready(server)[1].get("reasons") == ["store"])
        assert ready(server)[1]["reload"]["ok"] is True
        server.configure(store="sqlite")
        os.kill(server.process.pid, signal.SIGHUP)
        eventually(lambda: ready(server)[0] == 200)


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_a_probe_reveals_no_path_and_no_name(server: OperatedServer, path: str) -> None:
    answer = server.http.get(f"{server.root}{path}")
    text = f"{answer.text} {answer.headers}"
    for word in (str(server.folder), "probe", "carrel.json", "api_key", "local"):
        assert word not in text


def test_a_probe_answers_while_something_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    from carrel.server.operations import routes

    monkeypatch.setattr(routes, "_PATIENCE", 0.05)
    hanging = threading.Event()

    def hang() -> CarrelError | None:
        hanging.wait(30)
        return None

    view = Operations(ServerConfig(), HttpConfig(), store_health=hang)
    reply = asyncio.run(routes.Routes(view).reply("GET", "/readyz", None))
    hanging.set()
    assert (reply.status, b"timeout" in reply.body) == (503, True)


def test_probes_that_hang_share_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may ask for /readyz, as often as they like."""
    from carrel.server.operations import routes

    monkeypatch.setattr(routes, "_PATIENCE", 0.05)
    hanging, asked = threading.Event(), []

    def hang() -> CarrelError | None:
        asked.append(threading.current_thread())
        hanging.wait(30)
        return None

    async def probe_often() -> int:
        paths = routes.Routes(Operations(ServerConfig(), HttpConfig(), store_health=hang))
        for _ in range(3):
            replies = [paths.reply("GET", "/readyz", None) for _ in range(20)]
            assert {one.status for one in await asyncio.gather(*replies)} == {503}
        return sum(one.name == "carrel-work" for one in threading.enumerate())

    before = sum(one.name == "carrel-work" for one in threading.enumerate())
    assert asyncio.run(probe_often()) - before == 1
    assert len(asked) == 1
    hanging.set()


def test_a_probe_answers_although_something_fails() -> None:
    from carrel.server.operations.routes import Routes

    def broken() -> CarrelError | None:
        raise ZeroDivisionError

    view = Operations(ServerConfig(), HttpConfig(), store_health=broken)
    reply = asyncio.run(Routes(view).reply("GET", "/readyz", None))
    assert (reply.status, b"internal" in reply.body) == (503, True)
