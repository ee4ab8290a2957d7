"""Finds the plugins whose manifests declare a lookup."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from carrel.errors import ArgumentError, CarrelError
from carrel.text.printable import printable

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.manifest import LookupSpec
    from carrel.plugins.plugin_set import PluginSet

    from .result import Reason

#: The name by which the operator's `skip_tools` switches a plugin's lookup off.
LOOKUP = "lookup"


@dataclass(frozen=True, slots=True)
class LookupSource:
    """A plugin that resolves identifiers.

    Attributes:
        name: as the configuration calls it; the source of its records.
        namespace: the prefix of its tools, by which it may be chosen too.
        spec: what it resolves.
        closed: why it is not asked in this call; None when it is.
        remedy: what to set so that it can be asked; None unless `closed` is `not_configured`.
        assigns: kinds of identifier that its manifest claims to assign.
    """

    name: str
    namespace: str
    spec: LookupSpec
    closed: Reason | None = None
    remedy: str | None = None
    assigns: tuple[str, ...] = ()


def find_sources(
    plugin_set: PluginSet, config: Config, chosen: Sequence[str] | None
) -> tuple[list[LookupSource], list[str]]:
    """Returns the plugins that resolve identifiers, in the configuration's order, and notices.

    Args:
        plugin_set: the plugins.
        config: says which lookups the operator has switched off.
        chosen: names or namespaces of the only plugins to ask; None asks all.

    Raises:
        ArgumentError: a chosen name is not one of a plugin that resolves identifiers.
    """
    sources: list[LookupSource] = []
    notices: list[str] = []

    def note_unreadable(name: str, error: CarrelError) -> None:
        # What it resolves is unknown, so it is in no item's trace, but in the notices.
        notices.append(printable(f"{name} was not asked: {error.message}", 500))

    for name, manifest in plugin_set.manifests(note_unreadable):
        if manifest.lookup is None:
            continue
        entry = config.plugin(name)
        closed: Reason | None = None
        remedy = None
        if entry is not None and entry.skips(LOOKUP):
            closed = "switched_off"
        elif chosen is not None and not {name, manifest.namespace} & set(chosen):
            closed = "not_chosen"
        else:
            remedy = plugin_set.missing_requirement(name)
            closed = "not_configured" if remedy is not None else None
        sources.append(
            LookupSource(
                name, manifest.namespace, manifest.lookup, closed, remedy, manifest.assigns
            )
        )
    if chosen is not None:
        _require_known(chosen, sources)
    return sources, notices


def ready_sources(plugin_set: PluginSet) -> list[str]:
    """Returns the names of the plugins that lookups ask: those that lack no required secret."""
    return [
        name
        for name, manifest in plugin_set.manifests()
        if manifest.lookup is not None and plugin_set.missing_requirement(name) is None
    ]


def _require_known(chosen: Sequence[str], sources: Sequence[LookupSource]) -> None:
    known = sorted({source.name for source in sources} | {source.namespace for source in sources})
    faults = []
    for name in chosen:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            faults.append(f"sources: {printable(name, 60)!r} looks nothing up; {hint}")
    if faults:
        raise ArgumentError(faults)
