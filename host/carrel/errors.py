"""Defines the exceptions that Carrel raises.

    CarrelError
    ├── ConfigError            the configuration cannot be used            config
    ├── ArgumentError          arguments do not fit a tool's schema        invalid_arguments
    ├── RequestRefusedError    a surface answers with a JSON-RPC error     invalid_arguments
    ├── FailedResultError      a surface words the failure itself          that of the failure
    ├── UnknownNameError       no such tool, plugin or format              unknown_tool
    │   ├── HiddenToolError    the configuration hides the tool
    │   └── MissingPluginsError  plugins that may have it were not loaded
    ├── PluginError            a plugin is at fault, or is kept from running
    │   ├── LoadError          missing, refused, not what the lock says    plugin_unavailable
    │   │   ├── RegistryError  a registry failed, refused, or lied
    │   │   ├── SignatureError no signature that the policy accepts
    │   │   └── LockError      not what was approved
    │   ├── BuildError         its sources did not become a component      plugin_unavailable
    │   ├── Trap               the guest trapped or exited                 plugin_failed
    │   ├── LimitExceeded      the call exceeded one of its limits         limit_exceeded
    │   ├── DeadlineExceeded   the wall-clock deadline passed              timeout
    │   ├── Cancelled          the client cancelled the call               cancelled
    │   └── ContractViolation  the guest broke the contract                contract_violation
    ├── SourceError            an error that the plugin reported           any code open to plugins
    │   └── ModuleError        an error that an Extism module reported     upstream_error
    ├── NotRecordedError       a replay has no such exchange               not_recorded
    ├── StorageError           a file of Carrel's own                      storage
    ├── StateError             state that processes share: file or Redis   storage
    ├── BusyError              too many calls in flight                    busy
    └── InternalError          a bug in Carrel                             internal

The failure of a single request is a value, `carrel.exchange.Failure`, not an exception: it is
passed to the plugin, which decides what it means.

Every error has its facts as attributes and builds its message from them; no code parses messages.
Codes, actions and their meanings are those of `contract/v1/errors.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

#: code → (retryable, action); the same as `contract/v1/errors.json`, which a test compares.
CODES: Mapping[str, tuple[bool, str]] = {
    "invalid_arguments": (False, "fix_arguments"),
    "not_found": (False, "check_identifier"),
    "invalid_document": (False, "check_document"),
    "upstream_error": (False, "fix_arguments"),
    "upstream_invalid": (True, "retry_later"),
    "upstream_unavailable": (True, "retry_later"),
    "rate_limited": (True, "retry_after_delay"),
    "timeout": (True, "narrow_request"),
    "too_large": (False, "narrow_request"),
    "denied": (False, "ask_operator"),
    "limit_exceeded": (False, "narrow_request"),
    "cancelled": (True, "none"),
    "busy": (True, "retry_after_delay"),
    "plugin_failed": (False, "report_bug"),
    "contract_violation": (False, "report_bug"),
    "plugin_unavailable": (False, "ask_operator"),
    "not_recorded": (False, "record_again"),
    "unknown_tool": (False, "fix_arguments"),
    "config": (False, "fix_configuration"),
    "storage": (False, "free_or_fix_storage"),
    "internal": (False, "report_bug"),
}

#: action → what to do, in words; the same as `contract/v1/errors.json`, which a test compares.
ACTIONS: Mapping[str, str] = {
    "fix_arguments": "change the arguments as the message says",
    "check_identifier": "check the identifier; it may be mistyped or withdrawn",
    "check_document": "check the document and the format it is declared as",
    "retry_later": "try the same call again later",
    "retry_after_delay": "try the same call again after retry_after_seconds",
    "narrow_request": "ask for less: fewer items, a smaller page, a smaller document",
    "ask_operator": "the operator of this server can grant or install what is missing",
    "report_bug": "report it to the plugin's or Carrel's maintainers with the message",
    "record_again": "record the exchange with --record first",
    "fix_configuration": "correct the configuration as the message says",
    "free_or_fix_storage": "free space or fix permissions of the named path",
    "none": "no action is suggested",
}


class CarrelError(Exception):
    """Base class of all errors that Carrel raises.

    Attributes:
        code: one of `CODES`.
        plugin: the plugin concerned, if any.
        tool: the tool or format concerned, if any.
    """

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, plugin: str | None = None, tool: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.plugin = plugin
        self.tool = tool

    @property
    def error_code(self) -> str:
        """The code shown to clients."""
        return self.code

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return CODES[self.error_code][0]

    @property
    def action(self) -> str:
        """What to do, one of the actions of `contract/v1/errors.json`."""
        return CODES[self.error_code][1]

    @property
    def advice(self) -> str:
        """What to do, in words for a person; empty when no action is suggested."""
        if self.action == "none":
            return ""
        seconds = self.details().get("retry_after_seconds")
        if self.action == "retry_after_delay" and isinstance(seconds, (int, float)):
            return f"try the same call again in {seconds:g} s"
        return ACTIONS[self.action]

    def to_dict(self) -> dict[str, Any]:
        """Returns the error object of a failed call, as `contract/v1/errors.json` describes it."""
        error: dict[str, Any] = {
            "code": self.error_code,
            "message": self.message,
            "retryable": self.retryable,
            "action": self.action,
        }
        if self.plugin:
            error["source"] = self.plugin
        error.update(self.details())
        return error

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of this machine in the message; a server removes them for clients."""
        return ()

    def details(self) -> dict[str, Any]:
        """Further members of the error object; each class adds its own."""
        return {}

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__.copy())


def _rebuild(kind: type[CarrelError], args: tuple[Any, ...], state: dict[str, Any]) -> CarrelError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(CarrelError):
    """The configuration is invalid. `faults` lists all faults with their places."""

    code = "config"

    def __init__(self, faults: Sequence[str], *, path: str | None = None) -> None:
        self.faults = tuple(faults)
        self.path = path
        where = f"{path}: " if path else ""
        super().__init__(where + "; ".join(self.faults))

    @property
    def paths(self) -> tuple[str, ...]:
        """The configuration file."""
        return (self.path,) if self.path else ()


class ArgumentError(CarrelError):
    """The arguments are invalid. `faults` lists all faults."""

    code = "invalid_arguments"

    def __init__(
        self, faults: Sequence[str], *, plugin: str | None = None, tool: str | None = None
    ) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults), plugin=plugin, tool=tool)


#: Maximum number of failed plugins whose reason an error gives.
_MAX_REASONS = 5


class RequestRefusedError(CarrelError):
    """A request that is answered by a JSON-RPC error and not by a result.

    Only surfaces raise it, whose original server answers so.

    Attributes:
        rpc_code: the error's code on the wire.
    """

    code = "invalid_arguments"

    def __init__(self, rpc_code: int, message: str, *, paths: tuple[str, ...] = ()) -> None:
        self.rpc_code = rpc_code
        self._paths = paths
        super().__init__(message)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of this machine in the message."""
        return self._paths


class FailedResultError(CarrelError):
    """A failed call whose result has exactly one text, which a surface has written.

    Attributes:
        text: of the result.
        cause: the failure.
    """

    def __init__(self, text: str, cause: CarrelError) -> None:
        self.text = text
        self.cause = cause
        super().__init__(cause.message, plugin=cause.plugin, tool=cause.tool)

    @property
    def error_code(self) -> str:
        """The code of the failure."""
        return self.cause.error_code

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of this machine in the text."""
        return self.cause.paths

    def details(self) -> dict[str, Any]:
        """Those of the failure."""
        return self.cause.details()


class UnknownNameError(CarrelError):
    """Unknown name; `nearest` is a similar known one."""

    code = "unknown_tool"

    def __init__(self, kind: str, name: str, *, known: Sequence[str] = ()) -> None:
        import difflib

        self.kind = kind
        self.name = name
        near = difflib.get_close_matches(name, known, n=1)
        self.nearest = near[0] if near else None
        hint = f"; did you mean {self.nearest!r}?" if self.nearest else ""
        if not hint and known:
            hint = f"; known: {', '.join(sorted(known)[:20])}"
        super().__init__(f"unknown {kind} {name!r}{hint}")


class HiddenToolError(UnknownNameError):
    """The plugin has the tool, and the configuration hides it.

    Attributes:
        grant: the configuration that would offer it.
    """

    def __init__(self, name: str, *, plugin: str, grant: str) -> None:
        super().__init__("tool", name)
        self.plugin = plugin
        self.grant = grant
        self.message = f"the tool {name!r} is hidden by the configuration; to offer it: {grant}"
        self.args = (self.message,)

    @property
    def action(self) -> str:
        """Only the operator can help."""
        return "ask_operator"

    def details(self) -> dict[str, Any]:
        """Adds the grant."""
        return {"grant": self.grant}


class MissingPluginsError(UnknownNameError):
    """Unknown tool, possibly of a plugin that could not be loaded.

    Attributes:
        failed: the plugins that could not be loaded, with reasons.
    """

    def __init__(
        self, name: str, *, known: Sequence[str], failed: Mapping[str, CarrelError]
    ) -> None:
        super().__init__("tool", name, known=known)
        self.failed = dict(failed)
        reasons = [error.message for error in self.failed.values()]
        more = [f"and {len(reasons) - _MAX_REASONS} more"] if len(reasons) > _MAX_REASONS else []
        self.message += (
            f"; plugins that could not be loaded: {'; '.join([*reasons[:_MAX_REASONS], *more])}"
        )
        self.args = (self.message,)

    @property
    def action(self) -> str:
        """The operator can help, unless the name was mistyped."""
        return super().action if self.nearest else "ask_operator"

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths in the plugins' errors."""
        return tuple(path for error in self.failed.values() for path in error.paths)

    def details(self) -> dict[str, Any]:
        """Adds the names of the plugins."""
        return {"failed_plugins": list(self.failed)}


class PluginError(CarrelError):
    """A plugin failed or cannot run."""

    code = "plugin_failed"


class LoadError(PluginError):
    """A plugin cannot be loaded: it is missing, refused, or differs from the lock."""

    code = "plugin_unavailable"


class RegistryError(LoadError):
    """A registry was unreachable, refused a request, or returned wrong content.

    The message says what to do, if anything.

    Attributes:
        status: the HTTP status; None without a response, or if its content was wrong.
    """

    def __init__(
        self, message: str, *, plugin: str | None = None, status: int | None = None
    ) -> None:
        self.status = status
        super().__init__(message, plugin=plugin)

    @property
    def advice(self) -> str:
        """Empty, because the message contains the advice."""
        return ""


class SignatureError(LoadError):
    """A plugin has no signature that the policy accepts.

    Attributes:
        tried: the signatures found, each with the reason for refusal.
    """

    def __init__(
        self, message: str, *, plugin: str | None = None, tried: Sequence[str] = ()
    ) -> None:
        self.tried = tuple(tried)
        super().__init__(message, plugin=plugin)


class LockError(LoadError):
    """A plugin differs from what was approved, or was never approved.

    Attributes:
        changes: one line for each difference from the lock; empty when there is no entry.
    """

    def __init__(
        self, message: str, *, plugin: str | None = None, changes: Sequence[str] = ()
    ) -> None:
        self.changes = tuple(changes)
        super().__init__(message, plugin=plugin)


class BuildError(PluginError):
    """Building a plugin failed. `remedy` is what its author can do."""

    code = "plugin_unavailable"

    def __init__(self, message: str, *, remedy: str = "", plugin: str | None = None) -> None:
        self.remedy = remedy
        super().__init__(message, plugin=plugin)

    @property
    def advice(self) -> str:
        """The remedy, or the code's advice without one."""
        return self.remedy or super().advice


class Trap(PluginError):
    """The guest trapped or exited.

    Attributes:
        kind: wasmtime's trap code in lower case, `exit`, or `unknown`.
        trace: the wasm backtrace, for logs; may be empty.
    """

    code = "plugin_failed"

    def __init__(self, kind: str, message: str, *, trace: str = "", plugin: str, tool: str) -> None:
        self.kind = kind
        self.trace = trace
        super().__init__(f"{plugin}: the plugin failed: {message}", plugin=plugin, tool=tool)

    def details(self) -> dict[str, Any]:
        """Adds the trap's kind."""
        return {"trap": self.kind}


_NOT_SETTABLE = frozenset({"reports", "memories", "tables", "table_elements", "instances"})
_IN_BYTES = frozenset({"memory", "stack", "output", "fetched_bytes"})


class LimitExceeded(PluginError):
    """The call exceeded one of its limits.

    Attributes:
        limit: `cpu`, `memory`, `stack`, `output`, `fetches`, `fetched_bytes`, `reports`, or, for a
            component with too many of them: `memories`, `tables`, `table_elements`, `instances`.
        allowed: the limit's value in its unit.
        grant: the setting that would allow more; empty for a limit that cannot be set.
    """

    code = "limit_exceeded"

    def __init__(self, limit: str, allowed: float, *, plugin: str, tool: str) -> None:
        self.limit = limit
        self.allowed = allowed
        unit = "s" if limit == "cpu" else "bytes" if limit in _IN_BYTES else ""
        amount = f"{allowed:g} {unit}" if unit == "s" else f"{int(allowed)} {unit}".rstrip()
        fixed = limit in _NOT_SETTABLE
        self.grant = "" if fixed else limit_grant(plugin, _SETTINGS.get(limit, limit))
        more = f"; to allow more: {self.grant} = …" if self.grant else ""
        super().__init__(
            f"{plugin}: the call passed its {limit} limit of {amount}{more}",
            plugin=plugin,
            tool=tool,
        )

    def details(self) -> dict[str, Any]:
        """Adds the limit, its value and the setting that would allow more."""
        details = {"limit": self.limit, "allowed": self.allowed}
        return {**details, "grant": self.grant} if self.grant else details


#: limit, as errors name it → field of `carrel.exchange.Limits`, where the two differ.
_SETTINGS: Mapping[str, str] = {
    "cpu": "cpu_seconds",
    "memory": "memory_bytes",
    "stack": "stack_bytes",
    "output": "output_bytes",
}


def limit_grant(plugin: str, field: str) -> str:
    """Returns the setting of a limit, as written in the configuration; the stack limit applies to
    all plugins.
    """
    if field == "stack_bytes":
        return f"limits.{field}"
    return f"plugins.{plugin}.runtime_config.limits.{field}"


class DeadlineExceeded(PluginError):
    """The call exceeded its wall-clock limit."""

    code = "timeout"

    def __init__(self, *, plugin: str, tool: str, seconds: float) -> None:
        self.seconds = seconds
        self.grant = limit_grant(plugin, "wall_seconds")
        super().__init__(
            f"{plugin}: the call did not end within {seconds:g} s; to allow more: {self.grant} = …",
            plugin=plugin,
            tool=tool,
        )

    def details(self) -> dict[str, Any]:
        """Adds the setting that would allow more."""
        return {"grant": self.grant}


class Cancelled(PluginError):
    """The client cancelled the call."""

    code = "cancelled"

    def __init__(self, *, plugin: str, tool: str) -> None:
        super().__init__(f"{plugin}: the call was cancelled", plugin=plugin, tool=tool)


class ContractViolation(PluginError):
    """The guest returned a value that the contract does not allow."""

    code = "contract_violation"


class SourceError(CarrelError):
    """An error that the plugin reported: the source refused, or its response could not be read.

    Attributes:
        extra: members beyond code and message: position, retry_after_seconds, denial_context.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        plugin: str,
        tool: str,
        retryable: bool | None = None,
        action: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self._code = code
        self._retryable = retryable
        self._action = action
        self.extra = dict(extra or {})
        super().__init__(message, plugin=plugin, tool=tool)

    @property
    def error_code(self) -> str:
        """The code that the plugin chose."""
        return self._code

    @property
    def retryable(self) -> bool:
        """The plugin's value, else the code's."""
        return CODES[self._code][0] if self._retryable is None else self._retryable

    @property
    def action(self) -> str:
        """The plugin's action, else the code's; for a retryable error, always a retry.

        Other arguments are not advised if the same call may succeed.
        """
        if self._action is not None:
            return self._action
        retryable, action = CODES[self._code]
        if self.retryable and not retryable:
            return "retry_after_delay" if "retry_after_seconds" in self.extra else "retry_later"
        return action

    def details(self) -> dict[str, Any]:
        """Adds further members from the plugin and the host."""
        return self.extra


class ModuleError(SourceError):
    """An error that an Extism module reported; without advice.

    Modules report no error codes, so only the text is known.

    Attributes:
        content: the content blocks of a result with `isError`; empty for an error text.
    """

    def __init__(
        self,
        message: str,
        *,
        plugin: str,
        tool: str,
        content: Sequence[Mapping[str, Any]] = (),
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        self.content = tuple(dict(block) for block in content)
        super().__init__(
            "upstream_error", message, plugin=plugin, tool=tool, action="none", extra=extra
        )


class NotRecordedError(CarrelError):
    """A replay has no recording of the requested exchange."""

    code = "not_recorded"

    def __init__(self, method: str, url: str, directory: str) -> None:
        self.method = method
        self.url = url
        self.directory = directory
        super().__init__(f"no recording of {method} {url} in {directory}")

    @property
    def paths(self) -> tuple[str, ...]:
        """The folder of the recordings."""
        return (self.directory,)


class StorageError(CarrelError):
    """A file or folder of Carrel's own cannot be read or written. `path` names it."""

    code = "storage"

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path}: {reason}")

    @property
    def paths(self) -> tuple[str, ...]:
        """The file or folder."""
        return (self.path,)


class StateError(CarrelError):
    """State that processes share cannot be read or written: its file, or its Redis server.

    Attributes:
        where: the file, or the server's address without a password.
        reason: what happened.
        remedy: what to do, in words; may be empty.
        retry_after_seconds: when the store is tried again; None if that is not known.
        is_full: whether the server works, and only has no memory for more.
    """

    code = "storage"

    def __init__(
        self,
        where: str,
        reason: str,
        *,
        remedy: str = "",
        retryable: bool = False,
        retry_after_seconds: float | None = None,
        is_full: bool = False,
    ) -> None:
        self.where = where
        self.reason = reason
        self.remedy = remedy
        self.retry_after_seconds = retry_after_seconds
        self.is_full = is_full
        self._retryable = retryable or retry_after_seconds is not None
        super().__init__(f"{where}: {reason}" + (f"; {remedy}" if remedy else ""))

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self._retryable

    @property
    def action(self) -> str:
        """A retry if that may help."""
        if self.retry_after_seconds is not None:
            return "retry_after_delay"
        return "retry_later" if self._retryable else super().action

    @property
    def advice(self) -> str:
        """Empty if the message contains the advice."""
        return "" if self.remedy else super().advice

    @property
    def paths(self) -> tuple[str, ...]:
        """The file."""
        return (self.where,)

    def details(self) -> dict[str, Any]:
        """Adds the wait that helps."""
        if self.retry_after_seconds is None:
            return {}
        return {"retry_after_seconds": self.retry_after_seconds}


class BusyError(CarrelError):
    """Too many calls are in flight."""

    code = "busy"

    def __init__(self, limit: int, *, retry_after_seconds: float = 1.0) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(f"{limit} calls are in flight already; try again shortly")

    def details(self) -> dict[str, Any]:
        """Adds the wait that helps."""
        return {"retry_after_seconds": self.retry_after_seconds}


class InternalError(CarrelError):
    """A fault of Carrel's own; the log has the details, the client does not."""

    code = "internal"

    def __init__(self) -> None:
        super().__init__("internal error; the server's log has the details")
