"""Tests that the official client is notified of list changes by a reload, and after it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp.client import Client
from mcp.client.session import IncomingMessage
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.subscriptions import Subscription
from mcp.shared.exceptions import MCPError

from carrel.config import DEFAULT_PLUGINS
from support.modules import answering_module, text_at
from support.stdio_client import MODERN

pytestmark = pytest.mark.long("servers")

Mode = Literal["auto", "legacy"]
MODES = pytest.mark.parametrize("mode", ["legacy", "auto"], ids=["handshake", "modern"])

ALL = {"tools", "prompts", "resources"}
BUILTIN = {name: {"enabled": False} for name in DEFAULT_PLUGINS}
SERVE = "from carrel.__main__ import main; raise SystemExit(main())"
#: A server that does not wait for plugins: those that must be compiled are listed later.
IMPATIENT = f"import carrel.plugins.manifests.reading as reading; reading.PATIENCE = 0.0; {SERVE}"

NOTIFY_ALL = (
    "(call $notify_tool_list_changed) (call $notify_prompt_list_changed) "
    "(call $notify_resource_list_changed) (call $say (call $put (i32.const 0) (i32.const 14)))"
)


class Folder:
    """A folder with modules and the configuration that names them."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.file = folder / "carrel.json"
        self._folder = folder
        self._cache = cache

    def module(
        self, name: str, *, prompts: Sequence[str] = (), templates: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Writes a module and returns its entry; its tool reports that all lists have changed."""
        guest = answering_module(
            {
                "list_tools": {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]},
                "list_prompts": {"prompts": [{"name": one} for one in prompts]},
                "list_resource_templates": {
                    "resourceTemplates": [{"uriTemplate": one, "name": "t"} for one in templates]
                },
            },
            NOTIFY_ALL,
            export="call_tool",
            data=text_at(0, '{"content":[]}'),
        )
        path = self._folder / f"{name}-{guest.digest[:8]}.wasm"
        path.write_bytes(guest.wasm)
        return {"url": path.as_uri()}

    def configure(self, **plugins: Any) -> None:
        document = {
            "cache_dir": str(self._cache),
            "data_dir": str(self._folder / "data"),
            "plugins": {**BUILTIN, **plugins},
        }
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(document), "utf-8")
        new.replace(self.file)


class News:
    """The official client, and the lists that were announced as changed."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._arrived: list[str] = []
        self._event = anyio.Event()

    def add(self, what: str) -> None:
        self._arrived.append(what)
        self._event.set()
        self._event = anyio.Event()

    async def expect(self, *wanted: str) -> None:
        """Waits until exactly these lists were announced, in any order."""
        with anyio.fail_after(20):
            while not set(wanted) <= set(self._arrived):
                await self._event.wait()
        assert set(self._arrived) == set(wanted)
        self._arrived.clear()

    async def prompts(self) -> list[str]:
        return [one.name for one in (await self.client.list_prompts()).prompts]

    async def tools(self) -> list[str]:
        return [one.name for one in (await self.client.list_tools()).tools]


def follow(folder: Folder, mode: Mode, use: Callable[[News], Awaitable[None]], code: str) -> None:
    """Runs `use` with a client of a real server that subscribes to all list changes."""
    words = ["-c", code, "serve", "--config", str(folder.file)]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))

    async def run() -> None:
        async with AsyncExitStack() as stack:

            async def handle(message: IncomingMessage) -> None:
                method = getattr(message, "method", "")
                if method.endswith("/list_changed"):
                    news.add(method.split("/")[1])

            client = Client(stdio_client(server), mode=mode, message_handler=handle)
            news = News(client)
            await stack.enter_async_context(client)
            if mode == "legacy":
                await use(news)
                return
            listening = client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            )
            subscription = await stack.enter_async_context(listening)
            async with anyio.create_task_group() as group:
                group.start_soon(_pass_on, subscription, news)
                await use(news)
                group.cancel_scope.cancel()

    anyio.run(run)


async def _pass_on(subscription: Subscription, news: News) -> None:
    async for event in subscription:
        news.add(type(event).__name__.removesuffix("ListChanged").lower())


@pytest.fixture
def folder(tmp_path: Path, code_folder: Path) -> Folder:
    return Folder(tmp_path, code_folder)


@pytest.mark.requirement("serve:alive:reload-prompts")
@MODES
def test_a_reload_announces_the_prompts_and_templates_that_it_changes(
    folder: Folder, mode: Mode
) -> None:
    folder.configure(one=folder.module("one", prompts=["p"]))

    async def use(news: News) -> None:
        assert await news.prompts() == ["one_p"]
        folder.configure(one=folder.module("one", prompts=["p", "q"]))
        await news.expect("prompts")
        assert await news.prompts() == ["one_p", "one_q"]
        folder.configure(one=folder.module("one", prompts=["q"], templates=["x:{id}"]))
        await news.expect("prompts", "resources")
        assert await news.prompts() == ["one_q"]
        skipping = {"runtime_config": {"skip_prompts": ["q"]}}
        folder.configure(
            one={**folder.module("one", prompts=["q"], templates=["x:{id}"]), **skipping}
        )
        await news.expect("prompts")
        assert await news.prompts() == []

    follow(folder, mode, use, SERVE)


@pytest.mark.requirement("serve:alive:reload-news")
@MODES
def test_list_changes_of_plugins_after_a_reload_are_announced(folder: Folder, mode: Mode) -> None:
    kept = folder.module("kept")
    folder.configure(kept=kept)

    async def use(news: News) -> None:
        assert await news.tools() == ["kept_tell"]
        folder.configure(kept=kept, later=folder.module("later"))
        await news.expect("tools")
        # A plugin that the reload kept loaded, then one that is loaded after it.
        for tool in ("kept_tell", "later_tell"):
            await news.client.call_tool(tool, {})
            await news.expect(*ALL)
            await anyio.sleep(1.1)  # each list is announced at most once a second

    follow(folder, mode, use, SERVE)


@pytest.mark.requirement("serve:alive:reload-late-plugin")
@MODES
def test_a_plugin_that_is_compiled_after_a_reload_is_announced_when_it_is_ready(
    folder: Folder, mode: Mode, tmp_path: Path
) -> None:
    folder = Folder(tmp_path, tmp_path / "cold")
    folder.configure(one=folder.module("one", prompts=["p"]))

    async def use(news: News) -> None:
        # What was listed before the plugin was ready is announced, and nothing else.
        listed = {"prompts": await news.prompts(), "tools": await news.tools()}
        if not all(listed.values()):
            await news.expect(*(what for what, names in listed.items() if not names))
        late = folder.module("late", prompts=["l"], templates=["late:{id}"])
        folder.configure(one=folder.module("one", prompts=["p"]), late=late)
        await news.expect(*ALL)
        assert await news.prompts() == ["one_p", "late_l"]
        assert await news.tools() == ["one_tell", "late_tell"]

    follow(folder, mode, use, IMPATIENT)


@pytest.mark.requirement("serve:alive:reload-first-module")
def test_prompts_of_a_first_module_are_offered_after_the_reload(folder: Folder) -> None:
    folder.configure()

    async def use(news: News) -> None:
        assert await news.tools() == []
        with pytest.raises(MCPError, match="Method not found"):
            await news.client.list_prompts()
        folder.configure(one=folder.module("one", prompts=["p"]))
        await news.expect("tools", "prompts")
        assert await news.prompts() == ["one_p"]
        found = await news.client.session.send_discover(MODERN)
        assert found["capabilities"]["prompts"] == {"listChanged": True}
        assert found["capabilities"]["resources"]["subscribe"] is True
        assert "completions" in found["capabilities"]

    follow(folder, "auto", use, SERVE)


@pytest.mark.requirement("serve:alive:reload-first-module-handshake")
def test_prompts_that_a_handshake_did_not_declare_are_served_and_not_announced(
    folder: Folder,
) -> None:
    folder.configure()

    async def use(news: News) -> None:
        assert await news.tools() == []
        assert news.client.server_capabilities.prompts is None
        folder.configure(one=folder.module("one", prompts=["p"]))
        await news.expect("tools")
        await news.client.call_tool("one_tell", {})
        await news.expect("tools", "resources")
        assert await news.prompts() == ["one_p"]

    follow(folder, "legacy", use, SERVE)
