"""Implements the tool `paper_retractions`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.papers.envelope import REF, PaperTool, Schema, envelope_schema, paper_spec

from .result import OUTCOMES, STATUSES
from .run import RetractionCheck

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet

NAME: Final = "paper_retractions"

_TEXT: Final[Schema] = {"type": "string"}
_DESCRIPTION: Final = """\
WHEN TO USE: Check, before citing a paper, whether it was retracted, corrected or is of concern.
INPUTS: ref.
OUTPUTS: status and summary; statements: who said what, by which notice, when; disagreements; \
sources. Or ok:false with error.
COSTS: One or two requests per source.
SIDE EFFECTS: None.
LIMITS: nothing_stated is what the sources say, and unknown that one did not answer."""


def make_retractions_tool(plugins: PluginSet, config: Config) -> PaperTool:
    """Returns the tool."""
    check = RetractionCheck(plugins, config)

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        found = check.run(arguments["ref"], call)
        result: dict[str, Any] = {"ref": arguments["ref"], "ids": found.work.ids.to_json()}
        if found.work.title:
            result["title"] = found.work.title
        result |= {
            "status": found.status,
            "complete": found.complete,
            "summary": found.summary,
            "statements": [statement.to_json() for statement in found.statements],
            "disagreements": found.disagreements,
            "sources": [source_answer.to_json() for source_answer in found.sources],
        }
        if found.notice_of:
            result["notice_of"] = [statement.to_json() for statement in found.notice_of]
        return result

    statements: Schema = {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["source", "kind"],
            "additionalProperties": False,
            "properties": dict.fromkeys(
                ("source", "kind", "doi", "pmid", "date", "stated_by"), _TEXT
            ),
        },
    }
    texts: Schema = {"type": "array", "items": _TEXT}
    source: Schema = {
        "type": "object",
        "required": ["source", "outcome"],
        "additionalProperties": False,
        "properties": {
            "source": _TEXT,
            "outcome": {"enum": list(OUTCOMES)},
            "kinds": texts,
            "detail": _TEXT,
            "notes": texts,
        },
    }
    spec = paper_spec(
        NAME,
        "Check a paper for retractions",
        _DESCRIPTION,
        {"ref": REF},
        envelope_schema(
            ref=_TEXT,
            ids={"type": "object"},
            title=_TEXT,
            status={"enum": list(STATUSES)},
            complete={"type": "boolean"},
            summary=_TEXT,
            statements=statements,
            notice_of=statements,
            disagreements=texts,
            sources={"type": "array", "items": source},
        ),
        required=["ref"],
        network=True,
    )
    return PaperTool(spec, answer, limits=check.limits)
