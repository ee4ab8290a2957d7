"""Recorded pages of the web, and a server of the surface `web-researcher` that replays them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from carrel.config.model import DEFAULT_PLUGINS
from carrel.exchange import Request, Response
from carrel.fetch.recording import Recordings
from carrel.web.download import ACCEPT

from .surfaces import serve_command

HTML = "text/html; charset=utf-8"


def record_pages(folder: Path, pages: Mapping[str, tuple[str, bytes]]) -> Path:
    """Records pages as `web_read` downloads them.

    Args:
        folder: of the recordings; it may have some.
        pages: address → media type and body.
    """
    kept = Recordings(folder, create=not folder.exists())
    for url, (media_type, body) in pages.items():
        asked = Request("GET", url, (("accept", ACCEPT),))
        kept.keep(asked, Response(200, url, (("content-type", media_type),), ""), body)
    return folder


def web_settings(
    folder: Path, code_folder: Path, recorded: Path, *on: str, **more: Any
) -> dict[str, Any]:
    """Returns the configuration of a server that replays.

    Args:
        folder: for its data.
        code_folder: for compiled components.
        recorded: the recordings.
        on: the built-in sources that are on.
        more: further settings.
    """
    plugins = {
        name: {"url": f"builtin:{name}", "enabled": False}
        for name in DEFAULT_PLUGINS
        if name not in on
    }
    return {
        "cache_dir": str(code_folder),
        "data_dir": str(folder / "data"),
        "replay_dir": str(recorded),
        "plugins": plugins,
        "web": {"hosts": "public-web"},
        **more,
    }


def web_researcher(folder: Path, settings: Mapping[str, Any]) -> list[str]:
    """Returns the command that serves the surface."""
    return serve_command(folder, settings, "--surface", "web-researcher")
