"""Serves what the official conformance suite asks for, with Carrel's HTTP server.

Content, progress, log lines, documents, prompts and completion come from the Extism module
`everything` through the plugin interface. Carrel never asks a client for input, so the tools that
do so are added here, around the server's own handlers: sampling, elicitation, and their successor
since 2026-07-28. Run as a program: `python conformance_server.py FOLDER`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    SamplingMessage,
    TextContent,
)

if TYPE_CHECKING:
    from carrel.server.app import App

MODULE = (
    Path(__file__).resolve().parents[2] / "examples" / "extism-plugin" / "modules"
) / "everything.wasm"

_EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
_TEXT: dict[str, Any] = {"type": "string"}
#: Keywords of JSON Schema 2020-12 that a listing must keep.
_SCHEMA_2020: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": _TEXT, "city": _TEXT},
        }
    },
    "properties": {
        "name": _TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": _TEXT,
        "email": _TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_ENUMS = {
    "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
    "titledSingle": {
        "type": "string",
        "oneOf": [
            {"const": "value1", "title": "First Option"},
            {"const": "value2", "title": "Second Option"},
            {"const": "value3", "title": "Third Option"},
        ],
    },
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {
        "type": "array",
        "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
    },
    "titledMulti": {
        "type": "array",
        "items": {
            "anyOf": [
                {"const": "value1", "title": "First Choice"},
                {"const": "value2", "title": "Second Choice"},
                {"const": "value3", "title": "Third Choice"},
            ]
        },
    },
}
_DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}


def _elicitation(message: str, name: str, kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }


def _sampling(text: str, tokens: int = 100) -> dict[str, Any]:
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {
        "method": "sampling/createMessage",
        "params": {"messages": [message], "maxTokens": tokens},
    }


_ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
_NAME = {"user_name": _elicitation("What is your name?", "name")}
_IN = "test_input_required_result_"

#: Tool → the rounds of its questions; the last round's answers complete the call.
ROUNDS: dict[str, list[dict[str, Any]]] = {
    f"{_IN}elicitation": [_NAME],
    f"{_IN}sampling": [{"capital_question": _sampling("What is the capital of France?")}],
    f"{_IN}list_roots": [{"client_roots": _ROOTS}],
    f"{_IN}request_state": [{"confirm": _elicitation("Please confirm", "ok", "boolean")}],
    f"{_IN}multiple_inputs": [
        {**_NAME, "greeting": _sampling("Generate a greeting", 50), "client_roots": _ROOTS}
    ],
    f"{_IN}multi_round": [
        {"step1": _elicitation("Step 1: What is your name?", "name")},
        {"step2": _elicitation("Step 2: What is your favorite color?", "color")},
    ],
    f"{_IN}tampered_state": [{"confirm": _elicitation("Please confirm", "ok", "boolean")}],
    f"{_IN}capabilities": [{**_NAME, "greeting": _sampling("Generate a greeting", 50)}],
}
#: Those whose questions carry a state.
STATEFUL = {f"{_IN}{name}" for name in ("request_state", "multiple_inputs", "multi_round")} | {
    f"{_IN}tampered_state"
}
PROMPT = f"{_IN}prompt"
CONTEXT = {"user_context": _elicitation("What context should the prompt use?", "context")}
_CAPABILITY = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


def _tool(name: str, schema: dict[str, Any] = _EMPTY) -> dict[str, Any]:
    return {"name": name, "description": f"The suite's {name}.", "inputSchema": schema}


def _takes(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string", **more}}, "required": [name]}


TOOLS = [
    *(_tool(name) for name in ROUNDS),
    _tool("test_sampling", _takes("prompt")),
    _tool("test_elicitation", _takes("message")),
    _tool("test_elicitation_sep1034_defaults"),
    _tool("test_elicitation_sep1330_enums"),
    _tool("json_schema_2020_12_tool", _SCHEMA_2020),
    _tool("test_missing_capability"),
    _tool("test_trigger_tool_change"),
    _tool("test_trigger_prompt_change"),
    _tool("test_streaming_elicitation"),
    _tool("test_logging_tool"),
    _tool("test_reconnection"),
]


def _text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}], "isError": False}


class Asking:
    """Middleware with the tools and the prompt that ask the client."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, ctx: Any, call_next: CallNext) -> HandlerResult:
        """Answers what the suite needs beyond the plugin, and passes everything else on."""
        params = ctx.params or {}
        name = params.get("name")
        if ctx.method == "tools/call" and any(tool["name"] == name for tool in TOOLS):
            return self._complete(ctx, await self._call(ctx, str(name), params))
        if ctx.method == "prompts/get" and name == PROMPT:
            return self._complete(ctx, self._prompt(params))
        result = await call_next(ctx)
        if not isinstance(result, dict):
            return result
        if ctx.method == "tools/list":
            return {**result, "tools": [*result["tools"], *TOOLS]}
        if ctx.method == "prompts/list":
            own = {"name": PROMPT, "description": "A prompt that asks for its context."}
            return {**result, "prompts": [*result["prompts"], own]}
        return result

    def _complete(self, ctx: Any, result: dict[str, Any]) -> dict[str, Any]:
        modern = ctx.protocol_version == "2026-07-28"
        return {"resultType": "complete", **result} if modern else result

    async def _call(self, ctx: Any, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        if name in ROUNDS:
            return self._round(ctx, name, params)
        if name in {"test_trigger_tool_change", "test_trigger_prompt_change"}:
            await self._app.notify_changed("tools" if "tool" in name[13:] else "prompts")
            return _text("The list was reported as changed.")
        if name == "test_missing_capability":
            return self._missing(ctx)
        if name == "test_sampling":
            text = params["arguments"]["prompt"]
            message = SamplingMessage(role="user", content=TextContent(text=text))
            answer = await ctx.session.create_message(
                [message], max_tokens=100, related_request_id=ctx.request_id
            )
            return _text(f"LLM response: {answer.content.text}")
        if name.startswith("test_elicitation"):
            return await self._elicit(ctx, name, params.get("arguments") or {})
        return _text("Done.")

    def _missing(self, ctx: Any) -> dict[str, Any]:
        declared = ctx.session.client_capabilities
        if declared is None or declared.sampling is None:
            data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is required", data)
        return _text("The client has the capability.")

    async def _elicit(self, ctx: Any, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        schema: dict[str, Any] = _USER
        if name.endswith("defaults"):
            schema = {"type": "object", "properties": _DEFAULTS, "required": []}
        elif name.endswith("enums"):
            schema = {"type": "object", "properties": _ENUMS}
        asked = ElicitRequest(
            params=ElicitRequestFormParams(
                message=given.get("message", "Please fill in"), requested_schema=schema
            )
        )
        answer = await ctx.session.send_request(
            asked, ElicitResult, metadata=ServerMessageMetadata(related_request_id=ctx.request_id)
        )
        content = json.dumps(answer.content)
        return _text(f"Elicitation completed: action={answer.action}, content={content}")

    # Input since 2026-07-28

    def _round(self, ctx: Any, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
        rounds = ROUNDS[name]
        state = json.loads(params.get("requestState") or '{"round": 0}')
        responses = params.get("inputResponses") or {}
        asked = rounds[min(state["round"], len(rounds) - 1)]
        if name == f"{_IN}capabilities":
            asked = _within_capabilities(ctx, asked)
        if name in STATEFUL and "inputResponses" in params and "requestState" not in params:
            raise MCPError(INVALID_PARAMS, "requestState is missing")
        if not asked.keys() <= responses.keys() or not _are_answers(asked, responses):
            return _question(asked, state if name in STATEFUL else None)
        if state["round"] + 1 < len(rounds):
            following = {"round": state["round"] + 1}
            return _question(rounds[following["round"]], following)
        return _text(f"Hello, state-ok: {json.dumps(responses)}")

    def _prompt(self, params: Mapping[str, Any]) -> dict[str, Any]:
        responses = params.get("inputResponses") or {}
        if "user_context" not in responses:
            return _question(CONTEXT, None)
        text = {"type": "text", "text": f"In this context: {json.dumps(responses)}"}
        return {"messages": [{"role": "user", "content": text}]}


def _within_capabilities(ctx: Any, asked: dict[str, Any]) -> dict[str, Any]:
    """Returns the questions that the client can answer."""
    declared = ctx.session.client_capabilities
    return {
        key: one
        for key, one in asked.items()
        if getattr(declared, _CAPABILITY[one["method"]], None) is not None
    }


def _are_answers(asked: dict[str, Any], responses: Mapping[str, Any]) -> bool:
    """Returns whether every response has the shape that its question asks for."""
    needed = {
        "elicitation/create": "action",
        "sampling/createMessage": "content",
        "roots/list": "roots",
    }
    return all(
        isinstance(responses[key], dict) and needed[one["method"]] in responses[key]
        for key, one in asked.items()
    )


def _question(asked: dict[str, Any], state: dict[str, Any] | None) -> dict[str, Any]:
    result: dict[str, Any] = {"resultType": "input_required", "inputRequests": asked}
    return result if state is None else {**result, "requestState": json.dumps(state)}


def adapt(app: App) -> None:
    """Adds the suite's tools around the server's handlers."""
    security = RequestStateSecurity(keys=[b"the suite's key, only for tests!"])
    boundary = RequestStateBoundary(security, default_audience="carrel")
    app.sdk.middleware[:0] = [boundary, Asking(app)]


def make_toolbox(folder: Path) -> Callable[[], Any]:
    """Returns a function that creates a toolbox with only the module `everything`."""

    def make() -> Any:
        from carrel.config import DEFAULT_PLUGINS, load_config
        from carrel.features import FEATURES
        from carrel.surfaces import open_toolbox

        off = {name: {"enabled": False} for name in DEFAULT_PLUGINS}
        file = folder / "carrel.json"
        document = {
            "cache_dir": str(folder / "cache"),
            "data_dir": str(folder / "data"),
            "plugins": {**off, "test": {"url": MODULE.as_uri()}},
        }
        file.write_text(json.dumps(document), "utf-8")
        return open_toolbox(load_config(file, {}), features=FEATURES)

    return make


def main() -> int:
    """Serves until a signal."""
    from carrel.config import HttpConfig, ServerConfig
    from carrel.server.http import parse_address
    from carrel.server.http.serve import serve

    return serve(
        make_toolbox(Path(sys.argv[1])),
        parse_address("127.0.0.1:0"),
        ServerConfig(),
        HttpConfig(),
        may_offer=lambda: True,
        adapt=adapt,
    )


if __name__ == "__main__":
    sys.exit(main())
