"""Says what came in place of a PDF: a login, a challenge, a landing page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from carrel.errors import CarrelError
from carrel.plugins.compiling.compile_news import COMPILING
from carrel.text.printable import printable
from carrel.text.utf8 import Utf8

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet

#: The plugin and the format that distinguish pages.
_PLUGIN, _FORMAT = "page", "html"

#: The kind of a page, as the plugin says it → for a person.
_KINDS: Final = {
    "challenge": "a challenge page, which asks whether a person reads it",
    "login": "a login page",
    "paywall": "a paywall",
    "consent": "a page that asks for consent",
    "not_found": "a page that says that the document does not exist",
    "empty": "an empty page",
}


def describe_page(plugins: PluginSet, data: bytes, content_type: str, call: Call) -> str:
    """Returns what a response is that is not a PDF, for a person.

    Args:
        plugins: the page is read in the sandbox.
        data: the beginning of the response.
        content_type: as the server states it.
        call: its deadline and its cancellation apply.
    """
    kind = content_type.partition(";")[0].strip().lower()
    looks_like_page = "html" in kind or data.lstrip()[:1] == b"<"
    if not looks_like_page:
        return printable(f"a document of type {kind}", 100) if kind else "another document"
    try:
        plugin = plugins.plugin(_PLUGIN, lambda: call.explain(f"{_PLUGIN}: {COMPILING}"))
        if plugin.takes_bytes(_FORMAT):
            raw = plugin.parse_bytes(_FORMAT, data, whole=call)
        else:
            raw = plugin.parse(_FORMAT, Utf8.of(data.decode("utf-8", "replace")), whole=call)
        document = json.loads(bytes(raw))
    except CarrelError:
        return "a web page"
    title = printable(str(document.get("title") or ""), 80)
    named = _KINDS.get(str(document.get("kind")), "a landing page")
    return f"{named} ({title})" if title else named
