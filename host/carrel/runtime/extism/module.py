"""Calls the exports of an Extism module; each takes a text and returns one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from carrel.exchange import Call, Fetcher
from carrel.runtime.component import Ended, Sandboxed
from carrel.runtime.instance import Execution
from carrel.runtime.pending import Pending
from carrel.runtime.principal_shares import PrincipalShares
from carrel.runtime.ticker import Ticker

from .context import ModuleContext
from .services import define_services
from .wrap import letter_of

#: The module's own memory and the heap that texts pass through share the call's limit.
_MEMORIES = 2


class SandboxedModule(Sandboxed):
    """A module with verified code, and the worker threads that run it.

    Attributes:
        exports: names of its exported functions.
    """

    def __init__(
        self,
        name: str,
        digest: str,
        code: Path | bytes,
        *,
        exports: frozenset[str],
        ticker: Ticker,
        shares: PrincipalShares,
        workers: int,
        stack_bytes: int,
    ) -> None:
        super().__init__(
            name,
            digest,
            code,
            ticker=ticker,
            shares=shares,
            workers=workers,
            stack_bytes=stack_bytes,
            define=define_services,
        )
        self.exports = exports

    def submit(
        self,
        export: str,
        text: str,
        call: Call,
        *,
        config: Mapping[str, str],
        context: ModuleContext,
        fetcher: Fetcher | None = None,
        ended: Ended | None = None,
    ) -> Pending:
        """Starts a call of an export in a new instance; its outcome is the output.

        Args:
            export: one of `exports` that `wrap.EXPORTS` names.
            text: the input.
            call: limits, deadline, cancellation.
            config: values that `config_get` returns.
            context: services of the host for this call.
            fetcher: answers requests; without one they are refused.
            ended: called in the worker's thread before the outcome is set.

        An error is `PluginReport` for what the module set as its error, empty when it only returned
        a code, and `CarrelError` for the rest.
        """
        return self._submit(
            Execution(
                "call",
                (letter_of(export), text),
                call,
                fetcher=fetcher,
                settings=config,
                context=context,
                memories=_MEMORIES,
                allowance=self._allowance,
            ),
            ended=ended,
        )
