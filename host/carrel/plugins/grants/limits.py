"""The limits of calls: defaults, the manifest's requests, the operator's overrides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from carrel.exchange import Limits

if TYPE_CHECKING:
    from carrel.plugins.manifests.manifest import Manifest

#: Of tool calls of plugins that are not built in, unless the operator overrides them. While a large
#: result is written, the connection's other responses wait; each copy of a response into a guest
#: blocks Python for a millisecond per MiB.
STRANGERS_LIMITS = Limits(output_bytes=8 * 2**20, response_bytes=8 * 2**20)

#: Of a document of bytes. A file of 64 MiB takes 149 MiB of the guest's memory, and what a reader
#: builds of its pages is several times the file.
READER_LIMITS = Limits(cpu_seconds=60.0, wall_seconds=120.0, memory_bytes=2**30)

#: Requests of a module's call. A module cannot make several at once or declare a limit, and modules
#: commonly make one request for each entry of a list.
MODULE_FETCHES = 1_000


class LimitsOf(Protocol):
    """Finds the limits of a plugin's calls."""

    def __call__(self, manifest: Manifest | None, defaults: Limits | None = None, /) -> Limits:
        """The limits.

        Args:
            manifest: that asks; None for documents, whose limits no manifest changes.
            defaults: used for limits that are not set.
        """
        ...


def call_limits(
    manifest: Manifest | None,
    defaults: Limits | None = None,
    /,
    *,
    overrides: Mapping[str, float],
    builtin: bool,
    is_module: bool,
) -> Limits:
    """Returns the limits of a plugin's calls.

    Args:
        manifest: with the limits that the plugin asks for; None for parsing, which they do not
            concern: it fetches nothing and has a cap of its own on the document.
        defaults: for parsing, where the operator sets no others.
        overrides: the operator's, as of `effective_limits`.
        builtin: whether the plugin comes with Carrel.
        is_module: whether it is an Extism module.
    """
    if is_module:
        return module_limits(overrides)
    if manifest is None:
        return effective_limits({}, overrides, trusted=builtin, defaults=defaults)
    defaults = None if builtin else STRANGERS_LIMITS
    return effective_limits(manifest.limits, overrides, trusted=builtin, defaults=defaults)


def module_limits(overrides: Mapping[str, float]) -> Limits:
    """Returns the limits of an Extism module's calls; `overrides` as of `effective_limits`."""
    return effective_limits(
        {}, {"fetches": MODULE_FETCHES, **overrides}, trusted=False, defaults=STRANGERS_LIMITS
    )


def effective_limits(
    requested: Mapping[str, float],
    overrides: Mapping[str, float],
    *,
    trusted: bool,
    defaults: Limits | None = None,
) -> Limits:
    """Combines defaults, manifest and overrides.

    Args:
        requested: the manifest's `limits`.
        overrides: the operator's, which take precedence.
        trusted: whether the manifest may raise limits: so for built-in plugins. Another plugin's
            manifest can lower the defaults, never raise them.
        defaults: those to use in place of `Limits()`.
    """
    defaults = defaults or Limits()
    values: dict[str, float] = {}
    for name, value in requested.items():
        values[name] = value if trusted else min(value, getattr(defaults, name))
    values.update(overrides)
    return defaults._replace(**values)  # type: ignore[arg-type]
