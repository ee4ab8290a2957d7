"""The state of a configured plugin, loaded or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .manifests.naming import MAX_NAME
from .sources.source import builtin_names

if TYPE_CHECKING:
    from carrel.config import PluginConfig
    from carrel.errors import CarrelError

    from .manifests.manifest import Manifest


class PluginState(NamedTuple):
    """The state of a configured plugin.

    Attributes:
        digest: SHA-256 of the component; None when it could not be read.
        manifest: None when it could not be read.
        granted: hosts that the manifest declares and the operator grants.
        error: why it cannot be used; None when it can.
        notes: for a person: items requested and not granted, a built-in plugin that it replaces,
            and renamed tools.
        locked: whether it matches the lock; None when the lock does not have it.
        signer: who signed it, as the lock has it; None when no signature was asked for.
    """

    name: str
    url: str
    enabled: bool
    digest: str | None
    manifest: Manifest | None
    granted: tuple[str, ...]
    error: CarrelError | None
    notes: tuple[str, ...] = ()
    locked: bool | None = None
    signer: str | None = None

    @property
    def loaded(self) -> bool:
        """Whether the plugin can be called."""
        return self.error is None and self.enabled


def notes_of(entry: PluginConfig, manifest: Manifest | None) -> list[str]:
    """Returns notes for the operator about a working plugin, one sentence each.

    Args:
        entry: the plugin's.
        manifest: None when it could not be read.
    """
    notes = []
    if not entry.is_builtin and entry.name in builtin_names():
        note = f"{entry.name} takes the place of the built-in plugin of that name"
        if manifest is not None and manifest.lookup is None:
            note += ", and work_lookup goes without it"
        notes.append(f"{note}; another key in `plugins` keeps both")
    if manifest is not None:
        notes += [
            f"the tool {own!r} is offered as {name}: clients take letters, digits, _ and -, and "
            f"{MAX_NAME} characters"
            for own, name in manifest.renamed().items()
        ]
    return notes
