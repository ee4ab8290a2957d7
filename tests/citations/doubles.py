"""A double of the plugin `csl`: it shows what it was asked instead of rendering a style."""

from __future__ import annotations

import json
import re
from typing import Any

from carrel.citations import CitationEngine
from carrel.exchange import Call
from carrel.text.utf8 import Utf8


class FakeCsl:
    """Renders `ID, TITLE` and `(ID label locator)`, and asks for parents and locales.

    Attributes:
        requests: the requests, in order.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []

    def plugin(self, name: str) -> FakeCsl:
        assert name == "csl"
        return self

    def parse(
        self, document_format: str, document: Utf8, *, whole: Call | None = None
    ) -> memoryview:
        assert document_format == "process"
        request = json.loads(document.data)
        self.requests.append(request)
        return memoryview(json.dumps(self._answer(request)).encode())

    def checked_document(self, document_format: str, text: memoryview) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(bytes(text))
        return found

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        parent = re.search(r'href="([^"]+)" rel="independent-parent"', request["style"])
        default = re.search(r'<style[^>]*default-locale="([^"]+)"', request["style"])
        if parent:
            locale = {"default_locale": default[1]} if default else {}
            return {"needs": {"independent_parent": parent[1], **locale}}
        if "locale" not in request and default and default[1] not in request["locales"]:
            return {"needs": {"locales": [default[1]]}}
        known = {item["id"]: item for item in request["items"]}
        citations = request.get("citations")
        shown = list(known)
        if citations is not None:
            cited = [one["id"] for citation in citations for one in citation["items"]]
            shown = [name for name in known if name in {*cited, *request.get("uncited", ())}]
        texts = [(name, f"{name}, {known[name].get('title', '?')}") for name in sorted(shown)]
        return {
            "citations": [{"text": _cluster(one)} for one in citations or ()],
            "bibliography": [{"id": name, "text": text} for name, text in texts],
            "layout": {"hanging_indent": True, "entry_spacing": 0, "line_spacing": 1},
            "unknown": [],
            "warnings": [],
        }


def _cluster(citation: dict[str, Any]) -> str:
    parts = []
    for item in citation["items"]:
        name = f"-{item['id']}" if item.get("suppress-author") else item["id"]
        name = f"{name}!" if item.get("author-only") else name
        at = f" {item['label']} {item['locator']}" if "locator" in item else ""
        parts.append(f"{item.get('prefix', '')}{name}{at}{item.get('suffix', '')}")
    return f"({'; '.join(parts)})"


def fake_engine() -> tuple[CitationEngine, FakeCsl]:
    csl = FakeCsl()
    return CitationEngine(csl), csl
