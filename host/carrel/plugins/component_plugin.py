"""A plugin that is a component of the contract."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from carrel import telemetry
from carrel.errors import (
    ArgumentError,
    CarrelError,
    ContractViolation,
    InternalError,
    SourceError,
    UnknownNameError,
)
from carrel.exchange import Call, Fetcher, Limits, Verdict
from carrel.runtime.component import PluginReport, SandboxedComponent
from carrel.runtime.pending import Pending
from carrel.text.json_text import decode_object
from carrel.text.utf8 import Utf8

from .calls.report import MAX_REPORT, source_error
from .calls.result import Result
from .grants.limits import READER_LIMITS
from .plugin import Plugin
from .schemas.references import schema_weight

if TYPE_CHECKING:
    from .grants.limits import LimitsOf
    from .manifests.manifest import Format, Manifest

_log = logging.getLogger("carrel.plugins")

#: A result of a plugin that is not built in is checked in a subprocess beyond this size.
_LARGE = 2**18
#: The same for characters times the schema's weight, see `schema_weight`.
_LARGE_WEIGHT = 2**22
#: The reserved tools whose results name absent items, see `contract/v1/lookup.schema.json`.
_LOOKUPS = frozenset({"lookup", "role:open_copies"})
#: Bytes of a document's options as JSON.
_MAX_OPTIONS = 2**16


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Returns arguments as the JSON text that a guest receives.

    Raises:
        ValueError: a number is infinite.
    """
    import msgspec  # `carrel parse` passes no arguments, and starts sooner without

    try:
        # A quarter of the time, which counts for large arguments: this runs on the event loop.
        text = msgspec.json.encode(arguments).decode()
    except (TypeError, ValueError):
        text = "null"
    if "null" not in text:  # msgspec writes that for an infinite number, too
        return text
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


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
        formats: Mapping[str, bool] | None = None,
        result_bytes: int = 0,
    ) -> None:
        """A plugin under one policy.

        Args:
            name: see `Plugin`, as for what is not named here.
            component: of the plugin.
            manifest: reads what the plugin says of itself.
            make_fetcher: makes what answers its requests.
            limits: finds the limits of its calls.
            settings: the operator's, for `config.get`.
            trusted: see `Plugin`.
            formats: whether documents are bytes, by format, where that is known without the
                manifest.
            result_bytes: of results that are kept.
        """
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
        self._formats = formats
        self._settings = {key: json.dumps(value) for key, value in settings.items()}

    def _submit_call(self, tool: str, arguments: Mapping[str, Any] | None, call: Call) -> Pending:
        """Starts a tool call; see `Plugin.start_call`."""
        arguments = arguments or {}
        try:
            text = arguments_text(arguments)
        except ValueError:
            raise ArgumentError(
                ["a number is larger than any that JSON readers agree on"],
                plugin=self.name,
                tool=tool,
            ) from None
        fetcher = self._get_fetcher()
        call.arguments = text
        cached = None
        if self._result_cache is not None and not call.refresh:
            cached = self._result_cache.get((tool, text))
        if cached is not None:
            _log.info("%s: %s: result cache hit", self.name, tool)
            observer = telemetry.observer()
            if observer is not None:
                observer.result_cache_hit(self.name)
            call.from_result_cache = True
            pending = Pending()
            pending.settle(cached)
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
        """Returns `ABSENT` for a result that names absent items, before the result is checked.

        They are in a member `not_found`, or one whose name begins with `not_found_`.
        """
        if call.tool not in _LOOKUPS and b'"not_found' not in text:
            return Verdict.READ
        try:
            raw = decode_object(text, plugin=self.name, tool=call.tool, strict=not self.trusted)
        except ContractViolation:
            return Verdict.UNREADABLE
        names = (name for name in raw if name == "not_found" or name.startswith("not_found_"))
        return Verdict.ABSENT if any(raw[name] for name in names) else Verdict.READ

    def _reports_absence(self, report: PluginReport) -> bool:
        """Whether the report's code is `not_found`; `source_error` checks the rest of it."""
        if len(report.text) > MAX_REPORT:
            return False
        try:
            raw = decode_object(report.text, plugin=self.name, tool="", strict=not self.trusted)
        except ContractViolation:
            return False
        return raw.get("code") == "not_found"

    def _is_large(self, tool: str, text: bytes) -> bool:
        """Whether a result is checked in a subprocess before the call ends."""
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
        from .schemas.subprocess_check import check_in_subprocess

        faults = check_in_subprocess(
            text, spec.output_schema, plugin=self.name, tool=tool, seconds=call.remaining
        )
        if faults:
            raise self._refused(tool, faults)

    def parse(
        self, document_format: str, document: str | Utf8, *, whole: Call | None = None
    ) -> memoryview:
        """Parses a document in the sandbox; see `Plugin.parse`."""
        call = self._call_for(document_format, len(document), self._parsing_limits)
        return self._parsed(
            call,
            whole,
            lambda: self._component.parse(
                document_format, document, call, settings=self._settings, inline=self.trusted
            ),
        )

    def takes_bytes(self, document_format: str) -> bool:
        """Whether documents of a format are bytes; see `Plugin.takes_bytes`."""
        # A component without the interface has no such format, so its manifest is not read.
        if not self._component.reads_bytes:
            return False
        if self._formats is not None and document_format in self._formats:
            return self._formats[document_format]
        return self._require_format(document_format).takes_bytes

    def parse_bytes(
        self,
        document_format: str,
        document: bytes,
        options: Mapping[str, Any] | None = None,
        *,
        whole: Call | None = None,
    ) -> memoryview:
        """Parses a document of bytes in the sandbox; see `Plugin.parse_bytes`."""
        if not self.takes_bytes(document_format):
            return super().parse_bytes(document_format, document, options)
        call = self._call_for(document_format, len(document), self._reading_limits)
        text = self._options_text(document_format, options)
        return self._parsed(
            call,
            whole,
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
        if not options:
            return "{}"
        fault = "options are no JSON object"
        try:
            text = json.dumps(options, ensure_ascii=False, allow_nan=False)
            size = len(text.encode())
        except (TypeError, ValueError) as error:
            text, size, fault = "", 0, f"{fault}: {error}"
        if size > _MAX_OPTIONS:
            fault = f"options have {size} bytes of JSON, more than {_MAX_OPTIONS}"
        if not text.startswith("{") or size > _MAX_OPTIONS:
            raise ArgumentError([fault], plugin=self.name, tool=document_format)
        return text

    def _parsed(
        self, call: Call, whole: Call | None, parse: Callable[[], memoryview]
    ) -> memoryview:
        document_format = call.tool
        forget = None
        if whole is not None:
            call.deadline = min(call.deadline, whole.deadline)
            forget = whole.on_cancel(call.cancel)
        try:
            text = parse()
        except KeyboardInterrupt:
            call.cancel()
            raise
        except PluginReport as report:
            self._require_format(document_format)
            raise source_error(report, call, strict=not self.trusted) from None
        finally:
            if forget is not None:
                forget()
        if not self.trusted:
            self.checked_document(document_format, text)
        return text

    # The manifest's limits do not concern parsing: it fetches nothing and has its own limit.

    @cached_property
    def _parsing_limits(self) -> Limits:
        return self._limits(None)

    @cached_property
    def _reading_limits(self) -> Limits:
        return self._limits(None, READER_LIMITS)

    def checked_document(self, document_format: str, text: memoryview) -> dict[str, Any]:
        """Decodes and checks what `parse` returned; see `Plugin.checked_document`."""
        declared = self._require_format(document_format)
        return self._checked(text, ("format", document_format), declared.output_schema)

    def _result(self, call: Call, text: bytes) -> Result:
        """Returns the JSON text with its value, validated by the tool's output schema.

        A result from the result cache was validated before it was cached, and a large one of a
        plugin that is not built in before its call ended.
        """
        if call.from_result_cache:
            return Result(text, None)
        spec = self.manifest.tool(call.tool)
        assert spec is not None, "only known tools are called"
        assert spec.output_schema is not None, "a component's tools have one"
        value = None
        if not self._is_large(call.tool, text):
            value = self._checked(text, ("output", call.tool), spec.output_schema)
        if self._result_cache is not None and call.is_all_cached and self._component.is_pure:
            self._result_cache.put((call.tool, call.arguments), text, call.cache_hits)
        return Result(text, value)

    def _submit_reading(self, uri: str, secrets: Sequence[str], call: Call) -> Pending:
        """Calls the reserved tool `resource`; see `Plugin.start_reading`."""
        return self._submit_call(call.tool, {"uri": uri, "secrets": list(secrets)}, call)

    def _document(self, uri: str, text: bytes) -> Result:
        """Returns the JSON text with its value, validated by the resource's schema."""
        spec = self.manifest.resource(uri)
        assert spec is not None, "only known resources are read"
        assert spec.output_schema is not None, "a component's resources have one"
        return Result(text, self._checked(text, ("resource", uri), spec.output_schema))

    def _as_error(self, error: Exception, call: Call) -> CarrelError:
        """Translates the exception that a call ended with into an error for clients."""
        if not isinstance(error, PluginReport):
            return InternalError()
        try:
            return source_error(error, call, strict=not self.trusted)
        except ContractViolation as violation:
            return violation

    def _require_format(self, name: str) -> Format:
        found = self.manifest.format(name)
        if found is None:
            names = [declared.name for declared in self.manifest.formats]
            raise UnknownNameError(f"format of {self.name}", name, known=names)
        return found
