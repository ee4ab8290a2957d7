"""Asks plugins with the role `full_text` where the text of a paper is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from carrel.errors import CarrelError
from carrel.plugins.concurrent_calls import Question, ask_all
from carrel.plugins.roles import FullTextCopy, RoleSource, read_full_text

if TYPE_CHECKING:
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet
    from carrel.records import Id

ROLE: Final = "full_text"


def ask_full_texts(
    plugins: PluginSet, targets: Sequence[tuple[RoleSource, Id]], call: Call
) -> Iterator[tuple[RoleSource, tuple[FullTextCopy, ...] | CarrelError]]:
    """Asks sources at the same time; yields each with its copies, or why it has no answer.

    Args:
        plugins: of the configuration.
        targets: sources with the role, and the identifier to ask each for.
        call: its deadline, its cancellation, its progress.

    Raises:
        Cancelled: the call was cancelled.
    """
    questions = [
        Question(source.name, source.spec.tool, {"id": identifier.to_json()})
        for source, identifier in targets
    ]
    for (source, _), answer in zip(targets, ask_all(plugins, questions, call), strict=True):
        if isinstance(answer, CarrelError):
            yield source, answer
            continue
        try:
            yield source, read_full_text(answer, source.name)
        except CarrelError as error:
            yield source, error
