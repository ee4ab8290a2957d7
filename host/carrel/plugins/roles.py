"""Finds the plugins that take a role, and validates what they answer.

The roles are those of `contract/v1/roles.schema.json`. The source of a record is the plugin's name
in the configuration, whatever the record says: a plugin cannot answer for another source. An
invalid record is left out and counted; an invalid envelope is a contract violation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from carrel.contract import contract_file
from carrel.errors import CarrelError, ContractViolation
from carrel.plugins.manifests.manifest import ROLES, RoleSpec
from carrel.plugins.schemas.schema import compile_schema, validation_faults
from carrel.records import Id, RawResult, Work, checked_work
from carrel.text.json_text import decode_object
from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.plugin_set import PluginSet

#: The role → the definition in the contract that its answers satisfy.
_ANSWERS = {
    "search": "search",
    "full_text": "full_text",
    "references": "links",
    "citations": "links",
}


@dataclass(frozen=True, slots=True)
class RoleSource:
    """A plugin that takes a role.

    Attributes:
        name: as the configuration calls it.
        namespace: the prefix of its tools, by which it may be chosen too.
        spec: the role, as its manifest declares it.
        remedy: what to set before the source can be asked; None when it can.
    """

    name: str
    namespace: str
    spec: RoleSpec
    remedy: str | None = None

    def identifier_among(self, ids: Iterable[Id]) -> Id | None:
        """Returns the identifier to ask the source for; None if it takes none of these.

        Of several kinds the one that the manifest names first, of several of a kind the first.
        """
        by_kind: dict[str, Id] = {}
        for id_ in ids:
            by_kind.setdefault(id_.type, id_)
        return next((by_kind[kind] for kind in self.spec.identifiers if kind in by_kind), None)


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """One source's answer to a search.

    Attributes:
        works: the most relevant first.
        total: works that there are in all, by the source.
        next_cursor: for the next part; None at the end.
        refused: records that the contract refuses, with the reason; they are left out.
        surplus: works beyond those that were asked for; they are left out unread.
    """

    works: tuple[Work, ...]
    total: int | None = None
    next_cursor: str | None = None
    refused: tuple[str, ...] = ()
    surplus: int = 0


@dataclass(frozen=True, slots=True)
class FullTextCopy:
    """The address of a full text in one format.

    Attributes:
        format: jats, html, tex or pdf.
    """

    url: str
    format: str
    version: str | None = None
    license: str | None = None
    landing_url: str | None = None


@dataclass(frozen=True, slots=True)
class LinkedWork:
    """A cited or citing work, with the sentences that cite it."""

    work: Work
    contexts: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    influential: bool | None = None


@dataclass(frozen=True, slots=True)
class LinksAnswer:
    """One source's list of what a work cites, or what cites it; members as in `SearchAnswer`."""

    links: tuple[LinkedWork, ...]
    total: int | None = None
    next_cursor: str | None = None
    refused: tuple[str, ...] = ()


def role_sources(
    plugins: PluginSet, config: Config, role: str
) -> tuple[list[RoleSource], list[str]]:
    """Returns the plugins to ask for a role, in the configuration's order, and notices.

    The notices name the plugins that are not asked because they cannot be read, or because a
    required secret is not set.
    """
    sources, notices = all_role_sources(plugins, config, role)
    notices += [
        f"{source.name} was not asked: {source.remedy}"
        for source in sources
        if source.remedy is not None
    ]
    return [source for source in sources if source.remedy is None], notices


def all_role_sources(
    plugins: PluginSet, config: Config, role: str
) -> tuple[list[RoleSource], list[str]]:
    """Returns the plugins that take a role, also those that cannot be asked, and notices.

    A plugin whose reserved tool the operator has switched off (`skip_tools = ["role:search"]`) is
    left out. A plugin that cannot be read is named in the notices.
    """
    assert role in ROLES, role
    sources: list[RoleSource] = []
    notices: list[str] = []

    def note_unreadable(name: str, error: CarrelError) -> None:
        notices.append(printable(f"{name} was not asked: {error.message}", 500))

    for name, manifest in plugins.manifests(note_unreadable):
        spec = manifest.roles.get(role)
        if spec is None:
            continue
        entry = config.plugin(name)
        if entry is None or not entry.skips(spec.tool):
            remedy = plugins.missing_requirement(name)
            sources.append(RoleSource(name, manifest.namespace, spec, remedy))
    return sources, notices


def read_search(text: bytes, plugin: str, limit: int | None = None) -> SearchAnswer:
    """Returns what the role `search` answered.

    Args:
        text: the answer.
        plugin: its name in the configuration.
        limit: works that were asked for; all are read if None.

    Raises:
        ContractViolation: the text is not what the contract describes.
    """
    raw = _read(text, plugin, "search")
    works: list[Work] = []
    refused: list[str] = []
    items = raw["works"][:limit]
    for item in items:
        work = _work(item, plugin, "search", refused)
        if work is not None:
            works.append(work)
    surplus = len(raw["works"]) - len(items)
    return SearchAnswer(
        tuple(works), raw.get("total"), raw.get("next_cursor"), tuple(refused), surplus
    )


def read_links(text: bytes, plugin: str, role: str, most: int | None = None) -> LinksAnswer:
    """Returns what the role `references` or `citations` answered.

    Args:
        text: the answer.
        plugin: its name.
        role: the role.
        most: links that are read; further ones are ignored. None reads all.

    Raises:
        ContractViolation: the text is not what the contract describes.
    """
    raw = _read(text, plugin, role)
    links: list[LinkedWork] = []
    refused: list[str] = []
    for item in raw["links"][:most]:
        work = _work(item["work"], plugin, role, refused)
        if work is not None:
            contexts, intents = tuple(item.get("contexts", ())), tuple(item.get("intents", ()))
            links.append(LinkedWork(work, contexts, intents, item.get("influential")))
    return LinksAnswer(tuple(links), raw.get("total"), raw.get("next_cursor"), tuple(refused))


def read_full_text(text: bytes, plugin: str) -> tuple[FullTextCopy, ...]:
    """Returns what the role `full_text` answered, the best form first.

    Raises:
        ContractViolation: the text is not what the contract describes.
    """
    raw = _read(text, plugin, "full_text")
    return tuple(FullTextCopy(**copy) for copy in raw["copies"])


def role_arguments_faults(role: str, arguments: Any) -> list[str]:
    """Returns what is wrong with the arguments of a role's reserved tool, by the contract."""
    definition = {"search": "search_arguments", "full_text": "full_text_arguments"}
    if role == "open_copies":
        return validation_faults(_validator("lookup.schema.json", "arguments"), arguments)
    name = definition.get(role, "links_arguments")
    return validation_faults(_validator("roles.schema.json", name), arguments)


def _read(text: bytes, plugin: str, role: str) -> dict[str, Any]:
    tool = f"role:{role}"
    raw = decode_object(text, plugin=plugin, tool=tool)
    faults = validation_faults(_validator("roles.schema.json", _ANSWERS[role]), raw)
    if faults:
        raise ContractViolation(
            f"{plugin}: {tool} returned what the contract refuses: {'; '.join(faults[:5])}",
            plugin=plugin,
            tool=tool,
        )
    return raw


def _work(raw: dict[str, Any], plugin: str, role: str, refused: list[str]) -> Work | None:
    try:
        work = checked_work(RawResult(raw), plugin=plugin, tool=f"role:{role}")
    except ContractViolation as violation:
        refused.append(violation.message)
        return None
    return replace(work, source=plugin)


@lru_cache(maxsize=8)
def _validator(file: str, definition: str) -> Any:
    definitions = json.loads(contract_file(file).read_text("utf-8"))["$defs"]
    return compile_schema({**definitions[definition], "$defs": definitions})


def choose(sources: Sequence[RoleSource], names: Sequence[str]) -> list[RoleSource]:
    """Returns the sources with one of these names or namespaces."""
    return [source for source in sources if {source.name, source.namespace} & set(names)]
