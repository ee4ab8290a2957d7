"""A plugin that is ready to be called: its manifest, its sandbox, its fetcher, its limits.

`Plugin` is what the layers above know; `ComponentPlugin` is a component of the contract, and
`plugins.extism` has the other kind.
"""

from __future__ import annotations

import gc
import json
import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from carrel.errors import (
    CODES,
    ArgumentError,
    CarrelError,
    ContractViolation,
    InternalError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import (
    AnswerKeeper,
    AnswerSettler,
    Call,
    Fetcher,
    Limits,
    ProgressHandler,
    Verdict,
)
from carrel.runtime.component import PluginReport, Sandboxed, SandboxedComponent
from carrel.runtime.pending import Pending
from carrel.text.json_text import decode_object, decode_own_object
from carrel.text.printable import printable
from carrel.text.utf8 import Utf8

from .limits import READER_LIMITS
from .references import schema_weight
from .result import Result
from .result_cache import ResultCache
from .running_call import RunningCall
from .schema import compile_schema, validation_faults

if TYPE_CHECKING:
    import jsonschema_rs

    from .limits import LimitsOf
    from .manifest import Format, Manifest

_log = logging.getLogger("carrel.plugins")

#: The codes of `contract/v1/errors.json` that a plugin may use itself.
PLUGIN_CODES = frozenset(
    {
        "invalid_arguments",
        "not_found",
        "invalid_document",
        "upstream_error",
        "upstream_invalid",
        "upstream_unavailable",
        "rate_limited",
        "timeout",
        "too_large",
        "denied",
    }
)
#: A stranger's results beyond this are checked in a child process; smaller ones take milliseconds.
_LARGE = 2**18
#: The same of characters times what a schema holds against each value.
_LARGE_WEIGHT = 2**22
_MAX_MESSAGE = 2000
#: The reserved tool whose result says what is absent, see `contract/v1/lookup.schema.json`.
_LOOKUP = "lookup"
#: Bytes of a document's options as JSON.
_MAX_OPTIONS = 2**16
#: A report is a few lines; what is far longer is an attempt at something else.
_MAX_REPORT = 2**16


class Plugin(ABC):
    """One plugin under one policy.

    Attributes:
        name: the entry's name in the configuration.
        manifest: checked.
        limits: of every call.
        trusted: whether its JSON may leave by a pipe unread: so for built-in components, whose
            bytes are pinned and whose output the project's own tests check.
        takes_arguments_as_sent: whether arguments pass unchanged, blank and unknown ones too, and
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
        self._memo: ResultCache | None = None
        self._validators: dict[tuple[str, str], jsonschema_rs.Validator] = {}
        self._weights: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def manifest(self) -> Manifest:
        """What the plugin says of itself; read at first need, parsing alone does not need it."""
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
        """A call of a tool that starts its clocks now."""
        return Call(self.name, tool, self.limits, on_progress)

    def start_call(
        self, tool: str, arguments: Mapping[str, Any] | None, call: Call
    ) -> RunningCall[Result]:
        """Starts a tool call with arguments that were checked.

        The result is checked against the tool's output schema. It ends with `SourceError` when the
        plugin says that the call failed, and `ContractViolation` when it breaks its own promise.

        Arguments are None when the client sent none, which a module can tell from an empty object.
        """
        pending = self._submit_call(tool, arguments, call)
        return RunningCall(call, pending, partial(self._result, call), self._as_error)

    def start_reserved(
        self, tool: str, arguments: Mapping[str, Any] | None, call: Call
    ) -> RunningCall[bytes]:
        """Starts a tool of a reserved name; its text is for the caller to check."""
        return RunningCall(call, self._submit_call(tool, arguments, call), bytes, self._as_error)

    def start_reading(self, uri: str, secrets: Sequence[str], call: Call) -> RunningCall[Result]:
        """Starts to read a resource; ends as `start_call` does.

        Args:
            uri: one that the plugin offers.
            secrets: names of the secrets that are set.
            call: the call it happens in.
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
        """Checks what a reading returned."""

    @abstractmethod
    def _as_error(self, error: Exception, call: Call) -> CarrelError:
        """Translates what a call ended with into an error for clients."""

    @abstractmethod
    def parse(self, document_format: str, document: str | Utf8) -> memoryview:
        """A document through the sandboxed parser, as JSON text in UTF-8.

        Raises:
            SourceError: the document is not what the format promises, or the format is unknown.
            PluginError: the guest failed, or passed a limit.
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
    ) -> memoryview:
        """A document of bytes through the sandboxed parser, as JSON text in UTF-8.

        Args:
            document_format: one that `takes_bytes`.
            document: any bytes.
            options: the format's own, such as `{"pages": "3-7"}`.

        Raises:
            ArgumentError: the options are no JSON, or too long.
            SourceError: the document is too large or not what the format promises, or the format
                or an option is unknown.
            PluginError: the guest failed, or passed a limit.
        """
        raise SourceError(
            "invalid_arguments",
            f"{self.name}: {document_format} is no format of bytes ({len(document)} were given)",
            plugin=self.name,
            tool=document_format,
        )

    @abstractmethod
    def checked_document(self, document_format: str, text: memoryview) -> dict[str, Any]:
        """What `parse` returned, decoded and held against the format's schema.

        Raises:
            ContractViolation: it is not what the plugin's own schema says.
        """

    def argument_faults(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """What is wrong with arguments, by the tool's input schema."""
        spec = self.manifest.tool(tool)
        assert spec is not None, "only known tools are called"
        return validation_faults(self._validator(("input", tool), spec.input_schema), arguments)

    def close(self) -> None:
        """Ends the plugin's threads once running calls have finished."""
        self._sandboxed.close()

    def _settle(self, call: Call, text: bytes, failure: Exception | None) -> None:
        """Keeps the answers that a call fetched, or forgets them, by what became of it."""
        fetcher: object = self._fetcher
        if not call.unsettled or not isinstance(fetcher, AnswerSettler):
            return
        if failure is None:
            verdict = self._verdict(call, text)
        elif isinstance(failure, PluginReport) and self._says_absent(failure):
            verdict = Verdict.ABSENT
        else:
            verdict = Verdict.UNREADABLE
        fetcher.settle(call, verdict)

    def _verdict(self, call: Call, text: bytes) -> Verdict:  # noqa: ARG002 -- the kinds look
        """What a result says of the answers that it was made of."""
        return Verdict.READ

    def _says_absent(self, report: PluginReport) -> bool:  # noqa: ARG002 -- components look
        """Whether the plugin's report says that the source has no such item."""
        return False

    def _get_fetcher(self) -> Fetcher:
        with self._lock:
            if self._fetcher is None:
                self._fetcher = self._make_fetcher(self.manifest)
                if self._result_bytes and isinstance(self._fetcher, AnswerKeeper):
                    self._memo = ResultCache(self._fetcher, self._result_bytes)
            return self._fetcher

    def _checked(
        self, text: bytes | memoryview, key: tuple[str, str], schema: Mapping[str, Any]
    ) -> dict[str, Any]:
        name = key[1]
        collecting = gc.isenabled()
        try:
            # Python looks for cycles after every 700 new objects, and what is decoded has none: a
            # seventh of the time of a program that keeps what it parses.
            gc.disable()
            if self.trusted:
                value = decode_own_object(text, plugin=self.name, tool=name)
            else:
                value = decode_object(bytes(text), plugin=self.name, tool=name, strict=True)
            faults = validation_faults(self._validator(key, schema), value)
        finally:
            if collecting:
                gc.enable()
        if faults:
            raise self._refused(name, faults)
        return value

    def _refused(self, name: str, faults: Sequence[str]) -> ContractViolation:
        told = "; ".join(faults[:5])
        return ContractViolation(
            f"{self.name}: {name} returned what its own schema refuses: {told}",
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


class ComponentPlugin(Plugin):
    """A plugin that is a component of the contract."""

    def __init__(
        self,
        name: str,
        component: SandboxedComponent,
        manifest: Callable[[], Manifest],
        *,
        make_fetcher: Callable[[Manifest], Fetcher],
        limits: LimitsOf,
        settings: Mapping[str, Any],
        trusted: bool,
        result_bytes: int = 0,
    ) -> None:
        super().__init__(
            name,
            component,
            manifest,
            make_fetcher=make_fetcher,
            limits=limits,
            trusted=trusted,
            result_bytes=result_bytes,
        )
        self._component = component
        self._settings = {key: json.dumps(value) for key, value in settings.items()}

    def _submit_call(self, tool: str, arguments: Mapping[str, Any] | None, call: Call) -> Pending:
        """Starts a tool call; see `Plugin.start_call`."""
        arguments = arguments or {}
        try:
            text = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        except ValueError:
            raise ArgumentError(
                ["a number is larger than any that JSON readers agree on"],
                plugin=self.name,
                tool=tool,
            ) from None
        fetcher = self._get_fetcher()
        call.question = text
        known = None
        if self._memo is not None and not call.refresh:
            known = self._memo.find((tool, text))
        if known is not None:
            _log.info("%s: %s: the result of an earlier call still stands", self.name, tool)
            call.recalled = True
            pending = Pending()
            pending.settle(known)
            return pending
        return self._component.submit_call(
            tool,
            text,
            call,
            fetcher=fetcher,
            settings=self._settings,
            check=None if self.trusted else lambda result: self._check_large(tool, result, call),
            ended=partial(self._settle, call),
        )

    def _verdict(self, call: Call, text: bytes) -> Verdict:
        """`ABSENT` for a result that names what the source does not have; it is checked later.

        It does so in a member `not_found`, or one whose name begins with `not_found_`.
        """
        if call.tool != _LOOKUP and b'"not_found' not in text:
            return Verdict.READ
        try:
            raw = decode_object(text, plugin=self.name, tool=call.tool, strict=not self.trusted)
        except ContractViolation:
            return Verdict.UNREADABLE
        names = (name for name in raw if name == "not_found" or name.startswith("not_found_"))
        return Verdict.ABSENT if any(raw[name] for name in names) else Verdict.READ

    def _says_absent(self, report: PluginReport) -> bool:
        """Whether the report's code is `not_found`; the rest of it is checked elsewhere."""
        if len(report.text) > _MAX_REPORT:
            return False
        try:
            raw = decode_object(report.text, plugin=self.name, tool="", strict=not self.trusted)
        except ContractViolation:
            return False
        return raw.get("code") == "not_found"

    def _is_large(self, tool: str, text: bytes) -> bool:
        """Whether a stranger's result is checked in a child process, before the call ends."""
        if self.trusted:
            return False
        spec = self.manifest.tool(tool)
        if spec is None or spec.output_schema is None:
            return False
        if tool not in self._weights:
            self._weights[tool] = schema_weight(spec.output_schema)
        return len(text) > _LARGE or len(text) * self._weights[tool] > _LARGE_WEIGHT

    def _check_large(self, tool: str, text: bytes, call: Call) -> None:
        spec = self.manifest.tool(tool)
        if spec is None or spec.output_schema is None or not self._is_large(tool, text):
            return
        from .schema_subprocess import check_in_subprocess

        faults = check_in_subprocess(
            text, spec.output_schema, plugin=self.name, tool=tool, seconds=call.remaining
        )
        if faults:
            raise self._refused(tool, faults)

    def parse(self, document_format: str, document: str | Utf8) -> memoryview:
        """A document through the sandboxed parser; see `Plugin.parse`."""
        call = self._call_for(document_format, len(document), self._parsing_limits)
        return self._parsed(
            call,
            lambda: self._component.parse(
                document_format, document, call, settings=self._settings, inline=self.trusted
            ),
        )

    def takes_bytes(self, document_format: str) -> bool:
        """Whether documents of a format are bytes; see `Plugin.takes_bytes`."""
        # A component without the interface has no such format: its manifest need not be read.
        return self._component.reads_bytes and self._require_format(document_format).takes_bytes

    def parse_bytes(
        self, document_format: str, document: bytes, options: Mapping[str, Any] | None = None
    ) -> memoryview:
        """A document of bytes through the sandboxed parser; see `Plugin.parse_bytes`."""
        if not self.takes_bytes(document_format):
            return super().parse_bytes(document_format, document, options)
        call = self._call_for(document_format, len(document), self._reading_limits)
        text = self._options_text(document_format, options)
        return self._parsed(
            call,
            lambda: self._component.parse_bytes(
                document_format, document, text, call, settings=self._settings, inline=self.trusted
            ),
        )

    def _call_for(self, document_format: str, size: int, limits: Limits) -> Call:
        if size > limits.response_bytes:
            raise SourceError(
                "too_large",
                f"{self.name}: the document has {size:,} bytes, more than the limit of "
                f"{limits.response_bytes:,}; the setting limits.response_bytes changes it",
                plugin=self.name,
                tool=document_format,
            )
        return Call(self.name, document_format, limits)

    def _options_text(self, document_format: str, options: Mapping[str, Any] | None) -> str:
        fault = "options are no JSON object"
        try:
            text = json.dumps(options or {}, ensure_ascii=False, allow_nan=False)
            size = len(text.encode())
        except (TypeError, ValueError) as error:
            text, size, fault = "", 0, f"{fault}: {error}"
        if size > _MAX_OPTIONS:
            fault = f"options have {size} bytes of JSON, more than {_MAX_OPTIONS}"
        if not text.startswith("{") or size > _MAX_OPTIONS:
            raise ArgumentError([fault], plugin=self.name, tool=document_format)
        return text

    def _parsed(self, call: Call, parse: Callable[[], memoryview]) -> memoryview:
        document_format = call.tool
        try:
            text = parse()
        except KeyboardInterrupt:
            call.cancel()
            raise
        except PluginReport as report:
            self._require_format(document_format)
            raise self.source_error(report, call) from None
        if not self.trusted:
            self.checked_document(document_format, text)
        return text

    # The manifest's limits do not concern the pure half: no fetch, and the document's own cap.

    @cached_property
    def _parsing_limits(self) -> Limits:
        return self._limits(None)

    @cached_property
    def _reading_limits(self) -> Limits:
        return self._limits(None, READER_LIMITS)

    def checked_document(self, document_format: str, text: memoryview) -> dict[str, Any]:
        """What `parse` returned, checked; see `Plugin.checked_document`."""
        known = self._require_format(document_format)
        return self._checked(text, ("format", document_format), known.output_schema)

    def _result(self, call: Call, text: bytes) -> Result:
        """The JSON text and what it holds, held against the tool's output schema.

        A result that was kept from an earlier call was checked when that ended, and a large one of
        a stranger's plugin before the call did.
        """
        if call.recalled:
            return Result(text, None)
        spec = self.manifest.tool(call.tool)
        assert spec is not None, "only known tools are called"
        assert spec.output_schema is not None, "a component's tools have one"
        value = None
        if not self._is_large(call.tool, text):
            value = self._checked(text, ("output", call.tool), spec.output_schema)
        if self._memo is not None and call.of_kept_answers and self._component.is_pure:
            self._memo.keep((call.tool, call.question), text, call.kept)
        return Result(text, value)

    def _submit_reading(self, uri: str, secrets: Sequence[str], call: Call) -> Pending:
        """Calls the reserved tool `resource`; see `Plugin.start_reading`."""
        return self._submit_call(call.tool, {"uri": uri, "secrets": list(secrets)}, call)

    def _document(self, uri: str, text: bytes) -> Result:
        """The JSON text and what it holds, held against the resource's schema."""
        spec = self.manifest.resource(uri)
        assert spec is not None, "only known resources are read"
        assert spec.output_schema is not None, "a component's resources have one"
        return Result(text, self._checked(text, ("resource", uri), spec.output_schema))

    def _as_error(self, error: Exception, call: Call) -> CarrelError:
        """What a call ended with, as an error for clients."""
        if not isinstance(error, PluginReport):
            return InternalError()
        try:
            return self.source_error(error, call)
        except ContractViolation as violation:
            return violation

    def source_error(self, report: PluginReport, call: Call) -> SourceError:
        """The plugin's own report as an error, or what is wrong with the report.

        Raises:
            ContractViolation: the report is not what `contract/v1/errors.json` describes.
        """
        if len(report.text) > _MAX_REPORT:
            raise ContractViolation(
                f"{self.name}: {call.tool} reported an error of more than {_MAX_REPORT} characters",
                plugin=self.name,
                tool=call.tool,
            )
        raw = decode_object(report.text, plugin=self.name, tool=call.tool, strict=not self.trusted)
        code, message = raw.get("code"), raw.get("message")
        if code not in PLUGIN_CODES or not isinstance(message, str) or not message:
            raise ContractViolation(
                f"{self.name}: {call.tool} reported an error without a known code and a message",
                plugin=self.name,
                tool=call.tool,
            )
        extra: dict[str, Any] = {}
        seconds = raw.get("retry_after_seconds")
        if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds >= 0:
            extra["retry_after_seconds"] = seconds
        position = raw.get("position")
        if isinstance(position, dict):
            extra["position"] = {
                key: value if isinstance(value, int) else printable(str(value), 300)
                for key, value in position.items()
                if key in ("offset", "path")
            }
        if code == "denied" and call.denial is not None:
            extra["denial_context"] = {
                "reason": call.denial.reason,
                "url": printable(call.denial.url, 300),
                "grant": call.denial.grant,
            }
        if call.attempts:
            extra["attempts"] = call.attempts[-20:]
        retryable = raw.get("retryable")
        action = raw.get("action")
        return SourceError(
            code,
            printable(message, _MAX_MESSAGE),
            plugin=self.name,
            tool=call.tool,
            retryable=retryable if isinstance(retryable, bool) else None,
            action=action if action in _ACTIONS else None,
            extra=extra,
        )

    def _require_format(self, name: str) -> Format:
        known = self.manifest.format(name)
        if known is None:
            names = [one.name for one in self.manifest.formats]
            raise UnknownNameError(f"format of {self.name}", name, known=names)
        return known


_ACTIONS = frozenset(action for _, action in CODES.values())
