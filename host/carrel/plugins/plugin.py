"""A loaded plugin: its manifest, its sandbox, its fetcher, its limits.

`Plugin` is the interface for the layers above. `component_plugin` implements it for components of
the contract, `extism.plugin` for Extism modules.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from carrel.errors import CarrelError, ContractViolation, SourceError
from carrel.exchange import (
    AnswerSettler,
    CacheHitChecker,
    Call,
    Failure,
    FailureKind,
    Fetcher,
    FileFetcher,
    FileSink,
    Limits,
    Outcome,
    ProgressHandler,
    Request,
    Verdict,
    report_denials,
)
from carrel.runtime.component import PluginReport, Sandboxed
from carrel.runtime.pending import Pending
from carrel.text.json_text import decode_object, decode_own_object
from carrel.text.utf8 import Utf8

from .calls.result import Result
from .calls.result_cache import ResultCache
from .calls.running_call import RunningCall
from .schemas.schema import compile_schema, validation_faults

if TYPE_CHECKING:
    import jsonschema_rs

    from .grants.limits import LimitsOf
    from .manifests.manifest import Manifest

_log = logging.getLogger("carrel.plugins")


class Plugin(ABC):
    """One plugin under one policy.

    Attributes:
        name: the entry's name in the configuration.
        manifest: checked.
        limits: of every call.
        trusted: whether its results are sent without being read: so for built-in components, whose
            bytes are pinned and whose results the project's own tests check.
        takes_arguments_as_sent: whether arguments pass unchanged, also blank and unknown ones, and
            only the tool's own schema decides; so for Extism modules.
    """

    takes_arguments_as_sent: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        sandboxed: Sandboxed,
        manifest: Callable[[], Manifest],
        *,
        make_fetcher: Callable[[Manifest], Fetcher],
        limits: LimitsOf,
        trusted: bool,
        result_bytes: int = 0,
    ) -> None:
        self.name = name
        self.trusted = trusted
        self._sandboxed = sandboxed
        self._read_manifest = manifest
        self._manifest: Manifest | None = None
        self._make_fetcher = make_fetcher
        self._fetcher: Fetcher | None = None
        self._limits = limits
        self._result_bytes = result_bytes
        self._result_cache: ResultCache | None = None
        self._validators: dict[tuple[str, str], jsonschema_rs.Validator] = {}
        self._weights: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def manifest(self) -> Manifest:
        """The plugin's manifest; read when first needed, because parsing does not need it."""
        if self._manifest is None:
            self._manifest = self._read_manifest()
        return self._manifest

    @property
    def digest(self) -> str:
        """SHA-256 of the plugin's bytes, lower-case hex."""
        return self._sandboxed.digest

    @property
    def limits(self) -> Limits:
        """The limits of a call."""
        return self._limits(self.manifest)

    def new_call(self, tool: str, on_progress: ProgressHandler | None = None) -> Call:
        """Creates a call of a tool and starts its clocks."""
        return Call(self.name, tool, self.limits, on_progress)

    def start_call(
        self, tool: str, arguments: Mapping[str, Any] | None, call: Call
    ) -> RunningCall[Result]:
        """Starts a tool call with arguments that were checked.

        The result is validated by the tool's output schema. The call ends with `SourceError` when
        the plugin reports a failure, and with `ContractViolation` when its result or report is
        invalid.

        Arguments are None when the client sent none; Extism modules see the difference from `{}`.
        """
        pending = self._submit_call(tool, arguments, call)
        return RunningCall(call, pending, partial(self._result, call), self._as_error)

    def start_reserved(
        self, tool: str, arguments: Mapping[str, Any] | None, call: Call
    ) -> RunningCall[bytes]:
        """Starts a tool of a reserved name; the caller checks its result."""
        return RunningCall(call, self._submit_call(tool, arguments, call), bytes, self._as_error)

    def start_reading(self, uri: str, secrets: Sequence[str], call: Call) -> RunningCall[Result]:
        """Starts to read a resource; ends as `start_call` does.

        Args:
            uri: of a resource in the plugin's manifest.
            secrets: names of the secrets that are set.
            call: the call to run it in.
        """
        pending = self._submit_reading(uri, secrets, call)
        return RunningCall(call, pending, partial(self._document, uri), self._as_error)

    @abstractmethod
    def _submit_call(self, tool: str, arguments: Mapping[str, Any] | None, call: Call) -> Pending:
        """Queues a tool call."""

    @abstractmethod
    def _result(self, call: Call, text: bytes) -> Result:
        """Checks what a tool call returned."""

    @abstractmethod
    def _submit_reading(self, uri: str, secrets: Sequence[str], call: Call) -> Pending:
        """Queues the reading of a resource."""

    @abstractmethod
    def _document(self, uri: str, text: bytes) -> Result:
        """Checks the result of a reading."""

    @abstractmethod
    def _as_error(self, error: Exception, call: Call) -> CarrelError:
        """Translates the exception that a call ended with into an error for clients."""

    @abstractmethod
    def parse(
        self, document_format: str, document: str | Utf8, *, whole: Call | None = None
    ) -> memoryview:
        """Parses a document in the sandbox; returns JSON text in UTF-8.

        Args:
            document_format: one of the plugin's that is text.
            document: its text.
            whole: the call that this is a part of: its deadline and its cancellation hold too.

        Raises:
            SourceError: the document is not in the format, or the format is unknown.
            PluginError: the guest failed or exceeded a limit.
        """

    def takes_bytes(self, document_format: str) -> bool:  # noqa: ARG002 -- components look
        """Whether documents of a format are bytes, for `parse_bytes`, and not text, for `parse`.

        Raises:
            UnknownNameError: the plugin reads bytes, and has no such format.
        """
        return False

    def parse_bytes(
        self,
        document_format: str,
        document: bytes,
        options: Mapping[str, Any] | None = None,  # noqa: ARG002
        *,
        whole: Call | None = None,  # noqa: ARG002
    ) -> memoryview:
        """Parses a document of bytes in the sandbox; returns JSON text in UTF-8.

        Args:
            document_format: one that `takes_bytes`.
            document: any bytes.
            options: the format's own, such as `{"pages": "3-7"}`.
            whole: as of `parse`.

        Raises:
            ArgumentError: the options are not JSON, or too long.
            SourceError: the document is too large or not in the format, or the format or an option
                is unknown.
            PluginError: the guest failed or exceeded a limit.
        """
        raise SourceError(
            "invalid_arguments",
            f"{self.name}: {document_format} is not a binary format ({len(document)} were given)",
            plugin=self.name,
            tool=document_format,
        )

    @abstractmethod
    def checked_document(self, document_format: str, text: memoryview) -> dict[str, Any]:
        """Decodes what `parse` returned and validates it by the format's schema.

        Raises:
            ContractViolation: the plugin's own schema refuses it.
        """

    def download(self, url: str, sink: FileSink, call: Call, *, accept: str = "*/*") -> Outcome:
        """Downloads a file with the plugin's grants and secrets; see `carrel.exchange.FileFetcher`.

        For copies that the plugin names. The guest sees none of it.
        """
        fetcher = self._get_fetcher()
        if not isinstance(fetcher, FileFetcher):
            return Failure(FailureKind.DENIED, url, f"refused: {self.name} downloads no files")
        return fetcher.download(url, sink, call, accept=accept)

    def fetch(self, url: str, call: Call, *, accept: str = "*/*") -> Outcome:
        """Fetches a text with the plugin's grants and secrets, through its cache.

        For copies that the plugin names, like `download`. `settle` must follow.
        """
        request = Request("GET", url, (("accept", accept),))
        [outcome] = self._get_fetcher().fetch_all([request], call)
        report_denials(call, [outcome])
        return outcome

    def settle(self, call: Call, verdict: Verdict) -> None:
        """Settles the responses that `fetch` returned; see `carrel.exchange.AnswerSettler`."""
        fetcher: object = self._get_fetcher()
        if call.unsettled and isinstance(fetcher, AnswerSettler):
            fetcher.settle(call, verdict)

    def argument_faults(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """Returns what the tool's input schema refuses in the arguments."""
        spec = self.manifest.tool(tool)
        assert spec is not None, "only known tools are called"
        return validation_faults(self._validator(("input", tool), spec.input_schema), arguments)

    def close(self) -> None:
        """Ends the plugin's threads once running calls have finished."""
        self._sandboxed.close()

    def _settle(self, call: Call, text: bytes, failure: Exception | None) -> None:
        """Settles the responses that a call fetched, by the call's outcome; see `AnswerSettler`."""
        fetcher: object = self._fetcher
        if not call.unsettled or not isinstance(fetcher, AnswerSettler):
            return
        if failure is None:
            verdict = self._verdict(call, text)
        elif isinstance(failure, PluginReport) and self._reports_absence(failure):
            verdict = Verdict.ABSENT
        else:
            verdict = Verdict.UNREADABLE
        fetcher.settle(call, verdict)

    def _verdict(self, call: Call, text: bytes) -> Verdict:  # noqa: ARG002 -- the kinds look
        """Returns the verdict on the responses that a result was built from."""
        return Verdict.READ

    def _reports_absence(self, report: PluginReport) -> bool:  # noqa: ARG002 -- components look
        """Whether the plugin reports that the source has no such item."""
        return False

    def _get_fetcher(self) -> Fetcher:
        with self._lock:
            if self._fetcher is None:
                self._fetcher = self._make_fetcher(self.manifest)
                if self._result_bytes and isinstance(self._fetcher, CacheHitChecker):
                    self._result_cache = ResultCache(self._fetcher, self._result_bytes)
            return self._fetcher

    def _checked(
        self, text: bytes | memoryview, key: tuple[str, str], schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        name = key[1]
        if self.trusted:
            value = decode_own_object(text, plugin=self.name, tool=name)
        else:
            value = decode_object(bytes(text), plugin=self.name, tool=name, strict=True)
        faults = validation_faults(self._validator(key, schema), value)
        if faults:
            raise self._refused(name, faults)
        return value

    def _refused(self, name: str, faults: Sequence[str]) -> ContractViolation:
        reasons = "; ".join(faults[:5])
        return ContractViolation(
            f"{self.name}: {name} returned a result that its own schema refuses: {reasons}",
            plugin=self.name,
            tool=name,
        )

    def _validator(
        self, key: tuple[str, str], schema: Mapping[str, Any]
    ) -> jsonschema_rs.Validator:
        validator = self._validators.get(key)
        if validator is None:
            validator = self._validators[key] = self._compiled(schema)
        return validator

    def _compiled(self, schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
        return compile_schema(schema)
