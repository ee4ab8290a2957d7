"""Chooses the provider: by priority, past failing ones, and on to the next if one fails."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from carrel.errors import (
    ArgumentError,
    Cancelled,
    CarrelError,
    NotRecordedError,
    SourceError,
    StorageError,
)
from carrel.text.printable import printable

from .ask import ProviderAnswer, ask, kind_of, make_order
from .circuit import Circuit
from .lenses import Lens
from .providers import GOOGLE, Provider, find_providers, known_names
from .query import SearchQuery
from .results import Routing
from .schema import NAME

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.exchange import Call
    from carrel.plugins.plugin_set import PluginSet

#: Kinds of failure, the one that a caller should see first; see `kind_of`.
_ORDER: Final = (
    "validation", "auth", "payment", "rate_limited", "circuit_open", "blocked", "config",
    "unavailable", "not_configured", "query_too_long",
)  # fmt: skip
#: Seconds to wait after a rate limit, if the provider does not say.
_PAUSE: Final = 60.0


class UnknownProviderError(ArgumentError):
    """A call names a provider that the operator did not enable."""

    def __init__(self, fault: str, usable: Sequence[str]) -> None:
        super().__init__([fault], tool=NAME)
        self._usable = tuple(usable)

    def details(self) -> dict[str, Any]:
        """Adds the kind of the failure, and the providers that can be asked."""
        details: dict[str, Any] = {"kind": "config"}
        return {**details, "alternatives": list(self._usable)} if self._usable else details


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A provider without an answer, and why.

    Attributes:
        provider: its name.
        kind: see `kind_of`, or why it was not asked: `circuit_open`, `not_configured`,
            `query_too_long`.
        message: for a person.
        seconds: after which it may answer.
    """

    provider: str
    kind: str
    message: str
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        members: dict[str, Any] = {
            "provider": self.provider,
            "outcome": self.kind,
            "message": self.message,
        }
        return members if self.seconds is None else {**members, "retry_after_seconds": self.seconds}


@dataclass(slots=True)
class _Run:
    """One search, with the providers that were asked so far."""

    query: SearchQuery
    lens: Lens | None
    call: Call
    started: float
    attempts: list[_Attempt] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


class Router:
    """Asks the providers of a configuration. Thread-safe.

    Args:
        plugins: of the configuration.
        config: names the providers, the preferred one first.
        clock: seconds, monotonic.
        jitter: random numbers from 0 to 1, for the circuit breakers.
    """

    def __init__(
        self,
        plugins: PluginSet,
        config: Config,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._plugins = plugins
        self._config = config
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._circuits: dict[str, Circuit] = {}

    def usable(self) -> list[str]:
        """Returns the providers that are configured and healthy, the preferred one first."""
        found = find_providers(self._plugins, self._config)
        return [
            provider.name
            for provider in found
            if provider.remedy is None and not self._circuit(provider).wait
        ]

    def require_known(self, name: str) -> None:
        """Requires that a forced provider is one that the operator named.

        Raises:
            UnknownProviderError: it is not; with all that there are.
        """
        if name in self._config.web.search:
            return
        known = known_names(self._config)
        shown = printable(name, 40)
        if name in known:
            enabled = ", ".join(self._config.web.search)
            fault = f"{shown!r} is not enabled here; enabled: {enabled} (setting web.search)"
        else:
            fault = f"unknown provider {shown!r}"
        raise UnknownProviderError(
            f"provider: {fault}; all supported providers: {', '.join(known)}", self.usable()
        )

    def run(
        self, query: SearchQuery, lens: Lens | None, call: Call
    ) -> tuple[ProviderAnswer, Routing]:
        """Returns the first answer, and its way.

        Raises:
            SourceError: no provider answered; its member `attempts` has the reason of each.
            CarrelError: the call was cancelled, or its deadline passed.
        """
        run = _Run(query, lens, call, self._clock())
        candidates = self._candidates(query, lens)
        for provider in candidates:
            call.check()
            found = self._try(provider, run)
            if found is not None:
                return found, self._routing(provider, candidates, run, found)
        raise _no_answer(run, self.usable(), forced=query.get("provider") is not None)

    def _candidates(self, query: SearchQuery, lens: Lens | None) -> list[Provider]:
        """Returns the providers in the order in which they are asked."""
        forced = query.get("provider")
        found = find_providers(self._plugins, self._config)
        if forced is not None:
            return [provider for provider in found if provider.name == forced]
        if lens is not None and lens.engine is not None:
            # An engine of its own for the lens is asked directly.
            found.sort(key=lambda provider: provider.plugin != GOOGLE)
        return found

    def _try(self, provider: Provider, run: _Run) -> ProviderAnswer | None:
        """Asks a provider; notes the reason and returns None if there is no answer."""
        abilities = provider.abilities
        if provider.remedy is not None or abilities is None:
            reason = provider.remedy or "its plugin cannot be read"
            run.attempts.append(_Attempt(provider.name, "not_configured", reason))
            return None
        if len(run.query.text) > abilities.query:
            reason = f"takes at most {abilities.query} characters"
            run.attempts.append(_Attempt(provider.name, "query_too_long", reason))
            return None
        circuit = self._circuit(provider)
        wait = circuit.admit()
        if wait:
            reason = f"circuit open for another {wait:.0f} s after failures"
            run.attempts.append(_Attempt(provider.name, "circuit_open", reason, round(wait, 1)))
            return None
        run.asked.append(provider.name)
        order = make_order(run.query, run.lens, abilities)
        try:
            found = ask(self._plugins, provider, order, run.call)
        except (Cancelled, NotRecordedError, StorageError):
            circuit.spared()
            raise
        except CarrelError as error:
            self._note(circuit, provider, error, run)
            return None
        except BaseException:
            circuit.spared()
            raise
        circuit.succeeded()
        return found

    def _note(self, circuit: Circuit, provider: Provider, error: CarrelError, run: _Run) -> None:
        """Updates the circuit after a failure, and notes the reason."""
        kind = kind_of(error)
        retry_after = error.details().get("retry_after_seconds")
        seconds = float(retry_after) if isinstance(retry_after, (int, float)) else None
        if kind == "rate_limited":
            circuit.limited(seconds)
            # No call passes before, whatever the provider says.
            seconds = float(ceil(circuit.wait))
        elif kind in {"unavailable", "blocked"} and run.call.remaining > 0:
            circuit.failed()
        else:
            circuit.spared()
        message = printable(error.message, 500)
        run.attempts.append(_Attempt(provider.name, kind, message, seconds))

    def _routing(
        self, provider: Provider, candidates: Sequence[Provider], run: _Run, found: ProviderAnswer
    ) -> Routing:
        reason = None
        if provider is not candidates[0]:
            first = run.attempts[0].kind if run.attempts else ""
            reason = "circuit_open" if first == "circuit_open" else "primary_unavailable"
        named = found.order.sites if run.lens is not None and not found.order.engine else None
        return Routing(
            provider.name,
            tuple(run.asked),
            reason,
            self._clock() - run.started,
            found.unapplied,
            named,
        )

    def _circuit(self, provider: Provider) -> Circuit:
        with self._lock:
            if provider.name not in self._circuits:
                self._circuits[provider.name] = Circuit(self._clock, self._jitter)
            return self._circuits[provider.name]


class _Meaning(NamedTuple):
    """The code and action of a kind of failure, for clients.

    Attributes:
        code: of `contract/v1/errors.json`.
        kind: one of `carrel.web.answers.KINDS`.
        action: in place of the code's.
    """

    code: str
    kind: str
    action: str | None = None


_MEANINGS: Final[Mapping[str, _Meaning]] = {
    "validation": _Meaning("upstream_error", "validation"),
    "auth": _Meaning("config", "auth_required"),
    "payment": _Meaning("rate_limited", "rate_limited", "ask_operator"),
    "rate_limited": _Meaning("rate_limited", "rate_limited"),
    "circuit_open": _Meaning("upstream_unavailable", "rate_limited", "retry_after_delay"),
    "blocked": _Meaning("upstream_error", "blocked", "retry_later"),
    "config": _Meaning("denied", "config"),
    "not_configured": _Meaning("config", "config"),
    "query_too_long": _Meaning("invalid_arguments", "validation"),
    "unavailable": _Meaning("upstream_unavailable", "upstream_unavailable"),
}


def _no_answer(run: _Run, usable: Sequence[str], *, forced: bool) -> SourceError:
    """Returns the error of a search that no provider answered."""
    worst = min(run.attempts, key=lambda attempt: _ORDER.index(attempt.kind))
    meaning = _MEANINGS[worst.kind]
    alternatives = [name for name in usable if name not in run.asked]
    failures = "; ".join(f"{attempt.provider}: {attempt.message}" for attempt in run.attempts)
    advice = ""
    if worst.kind == "rate_limited":
        advice = f"; wait {worst.seconds or _PAUSE:.0f} s"
    if forced and alternatives:
        advice += f"; or use another provider: {', '.join(alternatives)}"
    extra: dict[str, Any] = {
        "kind": meaning.kind,
        "attempts": [attempt.to_json() for attempt in run.attempts],
    }
    if alternatives:
        extra["alternatives"] = alternatives
    if worst.kind in {"rate_limited", "circuit_open"}:
        extra["retry_after_seconds"] = worst.seconds or _PAUSE
    return SourceError(
        meaning.code,
        f"no provider answered: {failures}{advice}",
        plugin=worst.provider,
        tool=NAME,
        retryable=worst.kind in {"rate_limited", "circuit_open", "blocked", "unavailable"},
        action=meaning.action,
        extra=extra,
    )
