"""Implements the tool `paper_read`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.documents.answer import read_answer
from carrel.documents.schema import PART_ARGUMENTS, READ_MEMBERS
from carrel.papers.envelope import REF, PaperTool, Schema, envelope_schema, paper_spec

from .forms import FORMS, STORE
from .run import PaperReader, ReadPaper
from .trace import READ_ATTEMPTS

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.papers.store import PaperStore
    from carrel.plugins.plugin_set import PluginSet

NAME: Final = "paper_read"

_TEXT: Final[Schema] = {"type": "string"}
_DESCRIPTION: Final = """\
WHEN TO USE: Read a paper's own text, from the best form that can be had.
INPUTS: ref; then section, or from, with the form of the first answer.
OUTPUTS: text, form, version, license, source, url, quality. Of a text longer than max_chars first \
the outline: ask for the section you need. Or ok:false with error and attempts.
COSTS: A request per source and copy; none for further parts.
SIDE EFFECTS: None.
LIMITS: Copies that are free to read. An abstract is never given as the text."""


def make_read_tool(
    plugins: PluginSet, config: Config, opened_store: Callable[[], PaperStore]
) -> PaperTool:
    """Returns the tool.

    Args:
        plugins: of the configuration.
        config: the operator's.
        opened_store: returns the paper store.
    """
    reader = PaperReader(plugins, config, opened_store)

    def answer(arguments: Mapping[str, Any], call: Call) -> dict[str, Any]:
        plain = arguments.get("format") == "text"
        read = reader.read(arguments["ref"], call, form=arguments.get("form"), plain=plain)
        return {**paper_facts(read), **read_answer(read.document, arguments)}

    spec = paper_spec(
        NAME,
        "Read a paper",
        _DESCRIPTION,
        {
            "ref": REF,
            "form": {"description": "Only this form.", "enum": list(FORMS)},
            **PART_ARGUMENTS,
        },
        envelope_schema(
            ref=_TEXT,
            id={"type": "object"},
            source=_TEXT,
            form={"enum": list(FORMS)},
            version=_TEXT,
            license=_TEXT,
            url=_TEXT,
            landing_url=_TEXT,
            stored={"type": "boolean"},
            **READ_MEMBERS,
            attempts=READ_ATTEMPTS,
        ),
        required=["ref"],
        network=True,
    )
    return PaperTool(spec, answer, limits=reader.limits)


def paper_facts(read: ReadPaper) -> dict[str, Any]:
    """Returns where a text is from, as JSON; unknown members are left out."""
    facts: dict[str, Any] = {"ref": read.reference}
    if read.id is not None:
        facts["id"] = read.id.to_json()
    facts |= {"source": read.copy.source, "form": read.copy.form}
    optional = {
        "version": read.copy.version,
        "license": read.license,
        "url": read.url,
        "landing_url": read.copy.landing_url,
    }
    facts |= {name: value for name, value in optional.items() if value is not None}
    return {**facts, "stored": read.copy.source == STORE, "attempts": list(read.attempts)}
