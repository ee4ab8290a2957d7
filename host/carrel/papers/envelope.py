"""The shape of every result of a tool for papers, and a tool that always answers in it.

A result is `{"ok": true, …}` or `{"ok": false, "error": {"code", "message", …}}` with one of the
closed codes. A tool for papers raises nothing: what is wrong with its arguments is a result too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from carrel.errors import CarrelError, InternalError
from carrel.exchange import Call, Limits
from carrel.files.local_paths import without_paths
from carrel.plugins.manifests.tool_spec import ToolSpec
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.tools.host_spec import host_spec, object_schema
from carrel.tools.host_tool import HostTool

from .errors import PAPER_CODES, PaperCode, PaperError

Schema = dict[str, Any]
Answer = Callable[[Mapping[str, Any], Call], dict[str, Any]]

_TEXT: Final[Schema] = {"type": "string"}

#: Outcomes of an attempt at a source, the consulted ones last.
ATTEMPT_OUTCOMES: Final = (
    "not_consulted_disabled",
    "not_consulted_not_applicable",
    "not_consulted_wrong_publisher",
    "not_consulted_not_needed",
    "consulted_no_record",
    "consulted_not_open_access",
    "consulted_failed",
    "consulted_resolved",
)

#: The schema of what each source was asked and answered.
ATTEMPTS: Final[Schema] = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["source", "outcome", "consulted"],
        "properties": {
            "source": _TEXT,
            "outcome": {"enum": list(ATTEMPT_OUTCOMES)},
            "detail": _TEXT,
            "consulted": {"type": "boolean"},
        },
    },
}

#: The schema of the argument `ref`.
REF: Final[Schema] = {
    "description": "DOI, arXiv id, PMID or PMCID, as such or as a URL; or a citation.",
    "type": "string",
    "minLength": 1,
    "maxLength": 2048,
}

#: Code of `contract/v1/errors.json` → the closed code, for failures of other layers.
_CODES: Final[Mapping[str, PaperCode]] = {
    "invalid_arguments": "INVALID_REF",
    "not_found": "NOT_FOUND",
    "rate_limited": "RATE_LIMITED",
    "busy": "RATE_LIMITED",
    "timeout": "FETCH_TIMEOUT",
    "cancelled": "FETCH_TIMEOUT",
    "denied": "CAPABILITY_DENIED",
    "storage": "STORE_ERROR",
    "upstream_error": "NETWORK_ERROR",
    "upstream_invalid": "NETWORK_ERROR",
    "upstream_unavailable": "NETWORK_ERROR",
    "too_large": "NETWORK_ERROR",
    "not_recorded": "NETWORK_ERROR",
}


def as_paper_error(error: CarrelError) -> PaperError:
    """Returns an error of any layer as one with a closed code."""
    if isinstance(error, PaperError):
        return error
    code = _CODES.get(error.error_code, "INTERNAL_ERROR")
    denial = error.details().get("denial_context")
    return PaperError(code, error.message, denial=denial if isinstance(denial, Mapping) else None)


def failure(error: CarrelError, ref: str | None = None) -> dict[str, Any]:
    """Returns the envelope of an error; `denial_context` is there only if it has one.

    Args:
        error: of any layer.
        ref: the reference that the call was about; None for tools without one.
    """
    paper_error = as_paper_error(error)
    error_object: dict[str, Any] = {
        "code": paper_error.paper_code,
        "message": without_paths(paper_error.message, error.paths),
    }
    if paper_error.denial is not None:
        error_object["denial_context"] = paper_error.denial
    if paper_error.remediation:
        error_object["remediation"] = paper_error.remediation
    if paper_error.attempts:
        error_object["attempts"] = paper_error.attempts
    return {"ok": False, **({} if ref is None else {"ref": ref}), "error": error_object}


def error_schema(*, attempts: bool = True, remediation: bool = False) -> Schema:
    """Returns the schema of the member `error`.

    Args:
        attempts: whether the tool asks sources.
        remediation: whether a setting may permit what policy refused.
    """
    members: Schema = {
        "code": {"enum": list(PAPER_CODES)},
        "message": {"type": "string"},
        "denial_context": {"type": ["object", "null"]},
    }
    if attempts:
        members["attempts"] = ATTEMPTS
    if remediation:
        members["remediation"] = {"type": "array", "items": {"type": "object"}}
    return {"type": "object", "required": ["code", "message"], "properties": members}


def envelope_schema(error: Schema | None = None, /, **members: Schema) -> Schema:
    """Returns the output schema of a tool whose success has these members beside `ok`.

    Every member may be absent, because a failure has none of them.

    Args:
        error: see `error_schema`; that of a tool that asks sources when None.
        members: of a success.
    """
    return {
        "type": "object",
        "required": ["ok"],
        "additionalProperties": False,
        "properties": {"ok": {"type": "boolean"}, **members, "error": error or error_schema()},
    }


def paper_spec(
    name: str,
    title: str,
    description: str,
    properties: Schema,
    output: Schema,
    *,
    required: Sequence[str] = (),
    writes: bool = False,
    network: bool = False,
) -> ToolSpec:
    """Returns the description of a tool for papers.

    Args:
        name: of the tool.
        title: for people.
        description: for models.
        properties: of its arguments.
        output: see `envelope_schema`.
        required: arguments that must be given.
        writes: whether it changes the store or the log.
        network: whether it makes requests.
    """
    # Further arguments are valid here, so that they are refused in an envelope and not before.
    return host_spec(
        name,
        title,
        description,
        object_schema(properties, required, additional=True),
        output,
        writes=writes,
        network=network,
    )


class PaperTool(HostTool):
    """A host tool that returns an envelope.

    Args:
        spec: its description. `answer` validates arguments, so that a fault is a result.
        success: returns the members of a success beside `ok`; may raise a `CarrelError`.
        limits: of a call.
    """

    def __init__(self, spec: ToolSpec, success: Answer, *, limits: Limits | None = None) -> None:
        super().__init__(spec, limits)
        self._success = success
        self._known = tuple(spec.input_schema.get("properties", {}))
        self._strict = compile_schema({**spec.input_schema, "additionalProperties": False})

    def argument_faults(self, arguments: Mapping[str, Any]) -> list[str]:  # noqa: ARG002
        """Returns an empty list, because the result contains the faults of arguments."""
        return []

    def answer(self, arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        """Returns the envelope of a success or a failure."""
        try:
            faults = validation_faults(self._strict, arguments)
            if faults:
                hint = f"; known: {', '.join(self._known)}"
                extra = arguments.keys() - set(self._known)
                raise PaperError("INVALID_REF", "; ".join(faults[:5]) + (hint if extra else ""))
            return {"ok": True, **self._success(arguments, call)}
        except InternalError:
            raise
        except CarrelError as error:
            ref = arguments.get("ref") if "ref" in self._known else None
            return failure(error, ref if isinstance(ref, str) else None)
