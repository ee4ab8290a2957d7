"""Defines `paper_capabilities` and `paper_health`: what may be fetched, and whether it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from carrel.files.folders import may_write
from carrel.lookup.sources import ready_sources
from carrel.plugins.manifests.manifest import ROLES
from carrel.plugins.roles import role_sources
from carrel.version import __version__

from .envelope import PaperTool, Schema, envelope_schema, error_schema, paper_spec
from .fetching.host_lists import GLOBAL_PER_SECOND
from .opening import log_path
from .store.entry import SCHEMA_VERSION

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet

    from .fetching.mining import MiningAccess, MiningKey
    from .store import PaperStore

_ERROR: Final = error_schema(attempts=False)
_FLAG: Final[Schema] = {"type": "boolean"}
_NAMES: Final[Schema] = {"type": "array", "items": {"type": "string"}}

_CAPABILITIES: Final = """\
WHEN TO USE: See which sources this instance may use before planning fetches.
INPUTS: None.
OUTPUTS: metadata_sources, roles (role to sources), tdm_* flags, rate_limit_per_sec.
COSTS: None.
SIDE EFFECTS: None.
LIMITS: Says whether keys are set, never their values."""

_HEALTH: Final = """\
WHEN TO USE: Check that papers can be stored.
INPUTS: None.
OUTPUTS: version, schema_version, store_writable, log_writable, papers (number stored).
COSTS: None.
SIDE EFFECTS: None.
LIMITS: Asks no source."""


def make_status_tools(
    plugins: PluginSet,
    config: Config,
    opened_store: Callable[[], PaperStore],
    accesses: Mapping[MiningKey, MiningAccess],
) -> list[PaperTool]:
    """Returns the tools."""

    def capabilities(_arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        return capability_profile(plugins, config, accesses)

    def health(_arguments: Mapping[str, Any], _call: Call) -> dict[str, Any]:
        store = opened_store()
        return {
            "version": __version__,
            "schema_version": SCHEMA_VERSION,
            "store_writable": store.is_writable(),
            "log_writable": may_write(log_path(config).parent),
            "papers": len(store.list_keys()),
        }

    return [
        PaperTool(
            paper_spec(
                "paper_capabilities",
                "Report what may be fetched",
                _CAPABILITIES,
                {},
                envelope_schema(
                    _ERROR,
                    oa_enabled=_FLAG,
                    metadata_sources=_NAMES,
                    roles={"type": "object"},
                    tdm_enabled=_FLAG,
                    tdm_elsevier=_FLAG,
                    tdm_aps=_FLAG,
                    tdm_springer=_FLAG,
                    rate_limit_per_sec={"type": "number"},
                ),
            ),
            capabilities,
        ),
        PaperTool(
            paper_spec(
                "paper_health",
                "Check the paper store",
                _HEALTH,
                {},
                envelope_schema(
                    _ERROR,
                    version={"type": "string"},
                    schema_version={"type": "string"},
                    store_writable=_FLAG,
                    log_writable=_FLAG,
                    papers={"type": "integer"},
                ),
            ),
            health,
        ),
    ]


def capability_profile(
    plugins: PluginSet, config: Config, accesses: Mapping[MiningKey, MiningAccess]
) -> dict[str, Any]:
    """Returns what this instance may use, without a value of any key."""
    roles = {
        role: [source.name for source in role_sources(plugins, config, role)[0]] for role in ROLES
    }
    return {
        "oa_enabled": True,
        "metadata_sources": ready_sources(plugins),
        "roles": {role: names for role, names in roles.items() if names},
        "tdm_enabled": bool(accesses),
        "tdm_elsevier": "tdm-elsevier" in accesses,
        "tdm_aps": "tdm-aps" in accesses,
        "tdm_springer": "tdm-springer" in accesses,
        "rate_limit_per_sec": GLOBAL_PER_SECOND,
    }
