"""Asks Crossref what became of the work whose DOI a page declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from carrel.errors import Cancelled, CarrelError
from carrel.lookup import Lookup
from carrel.records.work import RETRACTIONS

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records.work import Update

#: The plugin that is asked, and the seconds that it may take.
_PLUGIN: Final = "crossref"
_SECONDS: Final = 15.0
#: Kinds of notices, the gravest first → the kind in the answer.
_KINDS: Final = (
    *((kind, "retraction") for kind in sorted(RETRACTIONS)),
    ("partial_retraction", "retraction"),
    ("expression_of_concern", "expression_of_concern"),
    ("correction", "correction"),
    ("erratum", "correction"),
    ("corrigendum", "correction"),
)


class RetractionStatus(NamedTuple):
    """The retraction status of a work, by Crossref.

    Attributes:
        status: the gravest notice; None if there is none or nothing is known.
        warning: why nothing is known; empty if Crossref answered.
    """

    status: dict[str, Any] | None = None
    warning: str = ""


class RetractionNotices:
    """Asks for notices about works. Thread-safe."""

    def __init__(self, plugins: PluginSet, config: Config) -> None:
        self._config = config
        self._lookup = Lookup(plugins, config)

    def find(self, doi: str, call: Call) -> RetractionStatus:
        """Returns the gravest notice about a work, never a guess.

        Args:
            doi: of the work.
            call: of the reading; only a part of its time is used.

        Raises:
            Cancelled: the call was cancelled.
        """
        entry = self._config.plugin(_PLUGIN)
        if entry is None or not entry.enabled:
            return RetractionStatus(warning="retractions were not looked up: crossref is off")
        try:
            with call.part(min(call.remaining / 2, _SECONDS)) as part:
                result = self._lookup.run([doi], part, sources=[_PLUGIN])
        except Cancelled:
            raise
        except CarrelError as error:
            return RetractionStatus(warning=f"retractions were not looked up: {error.message}")
        [item] = result.items
        if item.work is None:
            problem = next((step.problem for step in item.steps if step.problem is not None), None)
            if problem is None:
                return RetractionStatus()
            return RetractionStatus(warning=f"retractions were not looked up: {problem.message}")
        return RetractionStatus(_gravest(result.works[item.work].work.updated_by))


def _gravest(notices: tuple[Update, ...]) -> dict[str, Any] | None:
    for kind, label in _KINDS:
        for notice in notices:
            if notice.type.lower().replace("-", "_").replace(" ", "_") != kind:
                continue
            status: dict[str, Any] = {"retracted": kind in RETRACTIONS, "kind": label}
            more = {"date": notice.date, "notice_doi": notice.doi, "source": notice.source}
            return status | {name: value for name, value in more.items() if value}
    return None
