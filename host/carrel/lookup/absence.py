"""Decides whether a work is not found although a source failed.

`not_found` needs the word of every source that was asked, with two exceptions (decision 0047):

- The source that assigns an identifier says that there is none. arXiv assigns arXiv ids, PubMed
  assigns PMIDs, so what they do not know does not exist. It holds while a single plugin claims the
  kind. DOIs are registered by many agencies, so no source has the last word on one.
- A source refused the request because of its rate limit, a key that would raise the limit is not
  set, and another source says that there is none. Such a source would otherwise turn every unknown
  identifier into a failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result import Step
    from .sources import LookupSource

#: Returns how to set the keys of a source that are not set, by its name.
UnsetKeys = Callable[[str], Sequence[str]]


class Absence:
    """Knows which sources assign which identifiers, and which lack a key.

    Args:
        sources: all that resolve identifiers, asked or not.
        unset_keys: asked only about sources that refused a request because of a rate limit.
    """

    def __init__(self, sources: Iterable[LookupSource], unset_keys: UnsetKeys) -> None:
        self._unset_keys = unset_keys
        self._assigns = _sole_claims(sources)

    def is_certain(self, steps: Collection[Step]) -> bool:
        """Whether these steps, none of which found a work, mean that there is none."""
        absent = [step for step in steps if step.outcome == "not_found"]
        failed = [step for step in steps if step.outcome == "failed"]
        if any(self._assigned_by(step) for step in absent):
            return True
        return bool(absent) and all(self._lacks_key(step) for step in failed)

    def _assigned_by(self, step: Step) -> bool:
        return step.asked is not None and self._assigns.get(step.asked.type) == step.source

    def _lacks_key(self, step: Step) -> bool:
        problem = step.problem
        if problem is None or problem.code != "rate_limited" or self._assigned_by(step):
            return False
        return bool(self._unset_keys(step.source))


def _sole_claims(sources: Iterable[LookupSource]) -> dict[str, str]:
    """Returns each kind that exactly one source assigns, with the source."""
    claims = [(kind, source.name) for source in sources for kind in source.assigns]
    often = Counter(kind for kind, _ in claims)
    return {kind: name for kind, name in claims if often[kind] == 1}
