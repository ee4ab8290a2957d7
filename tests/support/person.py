"""A principal that uses a server over HTTP, in one of the protocol's two eras."""

from __future__ import annotations

from typing import Any

from .http_server import (
    HttpServer,
    answer_of,
    envelope,
    in_session,
    modern_headers,
    notification,
    request,
)
from .issuers import Issuer, bearer


class Person:
    """A principal with a token, in one era."""

    def __init__(self, server: HttpServer, token: str, *, is_modern: bool) -> None:
        self.server, self.is_modern = server, is_modern
        self.authorization = bearer(token)
        self.session: dict[str, str] = {}
        if not is_modern:
            params = {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }
            opened = self.send("initialize", params)
            assert opened.status_code == 200, opened.text
            self.initialize_result = answer_of(opened)["result"]
            self.session = in_session(opened.headers["mcp-session-id"])
            headers = {**self.session, **self.authorization}
            done = server.post(notification("notifications/initialized"), headers=headers)
            assert done.is_success

    def send(self, method: str, params: Any = None) -> Any:
        params = dict(params or {})
        headers = {**self.session, **self.authorization}
        if self.is_modern:
            params["_meta"] = envelope()
            name = params.get("name") or params.get("uri")
            headers |= modern_headers(method, name)
        return self.server.post(request(method, params), headers=headers)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = answer_of(self.send(method, params))
        return answer

    def tools(self) -> set[str]:
        return {tool["name"] for tool in self.ask("tools/list")["result"]["tools"]}

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=tool, arguments=arguments)


def person(server: HttpServer, issuer: Issuer, sub: str, *scopes: str, is_modern: bool) -> Person:
    token = issuer.token(sub=sub, scope=" ".join(["carrel", *scopes]))
    return Person(server, token, is_modern=is_modern)
