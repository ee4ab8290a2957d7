"""Talks to one Redis server: scripts, time limits, reconnection with backoff, typed errors.

Every change is one script, which Redis runs atomically and with its own clock. A server that cannot
be reached is tried again after a pause that grows from 0.1 s to 5 s; meanwhile all calls fail at
once, so that nothing waits for a server that is gone.
"""

from __future__ import annotations

import hashlib
import logging
import random
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from carrel.errors import StateError

from .redis_settings import RedisSettings

if TYPE_CHECKING:
    import redis

log = logging.getLogger("carrel.state")

#: Connections of one process; further threads wait for one.
_CONNECTIONS: Final = 64

#: Seconds of the first pause after a failure, and of the longest.
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0

#: What the client says when every connection is in use for the whole timeout.
_POOL_EXHAUSTED: Final = "No connection available."

_PASSWORD: Final = ("user or password was refused", "correct them")
_PERMISSIONS: Final = "allow it scripts, and the keys that begin with store.prefix"

_UNTRUSTED: Final = "its certificate is not trusted; name its authority in store.ca_bundle"
_MISNAMED: Final = "its certificate is for another name than that of store.url; use that name"
#: OpenSSL's code of a refused certificate → what is wrong with it.
_CERTIFICATES: Final = {
    9: "its certificate is not valid yet; compare the clocks",
    10: "its certificate has expired; renew it",
    62: _MISNAMED,
    64: _MISNAMED,
}

#: What Redis 6.2 puts before the error of a command of a script.
_IN_SCRIPT: Final = re.compile(r"^Error running script .{0,200}?: -(?=[A-Z]+ )")

#: What Lua raises in Carrel's own scripts begins so.
OWN_ERROR: Final = "CARREL"

Argument = bytes | str | int | float


@dataclass(frozen=True)
class Script:
    """A Lua script; Redis knows it by its hash.

    Attributes:
        source: as text.
        sha: SHA-1 of it, in hex.
    """

    source: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "sha", digest)


_BEGIN: Final = Script("""
local clock = redis.call('TIME')
return redis.call('SET', KEYS[1], string.format('%.0f', clock[1] * 1000000 + clock[2]), 'NX')
""")


class OwnError(Exception):
    """An error that one of Carrel's own scripts raised; the message begins with `CARREL`."""


class RedisServer:
    """The connections of this process to one server. Thread-safe."""

    def __init__(
        self,
        settings: RedisSettings,
        *,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.settings = settings
        self._clock = clock
        self._jitter = jitter
        self._lock = threading.Lock()
        self._client: redis.Redis | None = None
        self._failures = 0
        self._again_at = 0.0
        self._reason = ""
        self._closed = False

    def key(self, *parts: str) -> str:
        """Returns the key of these parts; all but the last must have no colon."""
        return ":".join((self.settings.prefix, *parts))

    @property
    def born_key(self) -> str:
        """The key with the time of the first entry, in microseconds since 1970."""
        return self.key("born")

    def begin(self) -> None:
        """Writes the time of the first entry, if the server has none.

        A server that restarted without its data gets a later time: what happened before is lost.

        Raises:
            StateError: the server is gone, refuses, or is full.
        """
        self.run(_BEGIN, (self.born_key,), ())

    def run(self, script: Script, keys: Sequence[Argument], arguments: Sequence[Argument]) -> Any:
        """Runs a script: one round trip, unless the server does not know it yet.

        Raises:
            StateError: the server is gone, refuses, or is full.
            OwnError: the script itself refused.
        """
        from redis.exceptions import NoScriptError

        def work(client: redis.Redis) -> Any:
            words = (len(keys), *keys, *arguments)
            try:
                return _execute(client, "EVALSHA", script.sha, *words)
            except NoScriptError:
                return _execute(client, "EVAL", script.source, *words)

        return self._attempt(work)

    def command(self, *words: Argument) -> Any:
        """Runs one command.

        Raises:
            StateError: the server is gone, refuses, or is full.
        """
        return self._attempt(lambda client: _execute(client, *words))

    def close(self) -> None:
        """Closes all connections; further calls raise."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()
            client.connection_pool.disconnect()

    def _attempt(self, work: Callable[[redis.Redis], Any]) -> Any:
        from redis import exceptions

        failures = self._admit()
        try:
            answer = work(self._connected())
        except (exceptions.RedisError, OSError, UnicodeDecodeError) as error:
            if isinstance(error, exceptions.ResponseError) and str(error).startswith(OWN_ERROR):
                self._succeeded()
                raise OwnError(str(error)) from error
            raise self._translated(error, failures) from error
        self._succeeded()
        return answer

    def _admit(self) -> int:
        """Lets one call try a server that failed; the others fail at once until it answers.

        Returns:
            The failures in a row until now.
        """
        if not self._failures and not self._closed:
            return 0
        with self._lock:
            if self._closed:
                raise StateError(self.settings.address, "the store is closed")
            wait = self._again_at - self._clock()
            if self._failures and wait > 0:
                raise self._gone(wait)
            self._again_at = self._clock() + self.settings.timeout_seconds
            return self._failures

    def _connected(self) -> redis.Redis:
        client = self._client
        if client is None:
            with self._lock:
                client = self._client = self._client or _make_client(self.settings)
        return client

    def _succeeded(self) -> None:
        if self._failures:
            with self._lock:
                self._failures = 0
            log.warning("%s answers again", self.settings.address)

    def _failed(self, reason: str, failures: int) -> StateError:
        """Counts a failure of the server; `failures` are those that the call knew of.

        Calls that were under way together count once.
        """
        with self._lock:
            counts = failures == self._failures
            if counts:
                pause = min(_FIRST_PAUSE * 2.0 ** min(failures, 10), _LONGEST_PAUSE)
                self._again_at = self._clock() + pause * (0.5 + self._jitter() / 2)
                self._failures = failures + 1
                self._reason = reason
            fault = self._gone(self._again_at - self._clock())
        if counts and not failures:
            log.warning("%s: %s; trying again until it answers", self.settings.address, reason)
        return fault

    def _gone(self, wait: float) -> StateError:
        return StateError(
            self.settings.address, self._reason, retry_after_seconds=round(max(wait, 0.1), 2)
        )

    def _translated(self, error: Exception, failures: int) -> StateError:
        from redis import exceptions

        where = self.settings.address
        match error:
            case exceptions.AuthenticationError() | exceptions.AuthorizationError():
                return self._refused(*_PASSWORD, failures)
            case exceptions.BusyLoadingError():
                return self._failed("the server is loading its data", failures)
            case exceptions.TimeoutError():
                seconds = self.settings.timeout_seconds
                return self._failed(f"no answer within {seconds:g} s", failures)
            case exceptions.ConnectionError() if str(error) == _POOL_EXHAUSTED:
                return StateError(where, "all connections are in use", retry_after_seconds=0.1)
            case exceptions.ConnectionError() | OSError():
                return self._failed(_why_no_connection(error), failures)
            case UnicodeDecodeError():
                return self._refused("the password file is not UTF-8", "correct it", failures)
        return self._worded(error, failures)

    def _worded(self, error: Exception, failures: int) -> StateError:
        """Words an answer that refuses a command; the client drops the first word of some."""
        from redis import exceptions

        text, where = _IN_SCRIPT.sub("", str(error)), self.settings.address
        word = text.partition(" ")[0]
        if isinstance(error, exceptions.OutOfMemoryError) or word == "OOM":
            remedy = "raise its maxmemory"
            return StateError(where, "the server's memory is full", remedy=remedy, is_full=True)
        read_only = exceptions.ReadOnlyError, exceptions.MasterDownError
        if isinstance(error, read_only) or word == "READONLY":
            # Another server may have its name now, which new connections look up. Those in use by
            # other threads are closed with the last use of the client.
            with self._lock:
                self._client = None
            return self._refused("the server is a read-only replica", "name the primary", failures)
        if isinstance(
            error,
            exceptions.AskError | exceptions.ClusterCrossSlotError | exceptions.ClusterDownError,
        ):
            return self._refused("the server is one of a cluster", "name one of its own", failures)
        if isinstance(error, exceptions.NoPermissionError) or word == "NOPERM":
            return self._refused("the user may not do this", _PERMISSIONS, failures)
        if word == "MISCONF":
            return StateError(where, "the server cannot write to its disk", remedy="free space")
        # A server cuts a long command short before it says NOAUTH.
        if word in {"NOAUTH", "WRONGPASS"} or "unauthenticated" in text:
            return self._refused(*_PASSWORD, failures)
        return StateError(where, f"the server refuses: {_printable(text)}")

    def _refused(self, reason: str, remedy: str, failures: int) -> StateError:
        """Returns the error of a server that works, but not for us; it is tried again like others.

        The operator may correct it while this process runs.
        """
        again = self._failed(f"{reason}; {remedy}", failures).retry_after_seconds
        return StateError(self.settings.address, reason, remedy=remedy, retry_after_seconds=again)


_servers: dict[RedisSettings, tuple[RedisServer, int]] = {}
_servers_lock = threading.Lock()


def acquire_server(settings: RedisSettings) -> RedisServer:
    """Returns this process's connections to a server; all users of it share them.

    Raises:
        StateError: the client for Redis is not installed.
    """
    import importlib.util

    if importlib.util.find_spec("redis") is None:
        raise StateError(
            settings.address,
            "the package redis is not installed",
            remedy="install carrel[redis]",
        )
    with _servers_lock:
        server, users = _servers.get(settings) or (RedisServer(settings), 0)
        _servers[settings] = (server, users + 1)
        return server


def release_server(server: RedisServer) -> None:
    """Ends one use; the last one closes the connections."""
    with _servers_lock:
        registered, users = _servers.get(server.settings, (None, 0))
        if registered is not server:
            return
        if users > 1:
            _servers[server.settings] = (server, users - 1)
            return
        del _servers[server.settings]
    server.close()


def _execute(client: redis.Redis, *words: Argument) -> Any:
    return client.execute_command(*words)  # type: ignore[no-untyped-call]


def _make_client(settings: RedisSettings) -> redis.Redis:
    import redis
    from redis.backoff import NoBackoff
    from redis.credentials import CredentialProvider
    from redis.retry import Retry

    class Credentials(CredentialProvider):
        """Reads the password for each connection, because its file may have changed."""

        def get_credentials(self) -> tuple[str, str] | tuple[str]:
            password = settings.read_password()
            if settings.username:
                return settings.username, password or ""
            return (password or "",)

    options: dict[str, Any] = {}
    if settings.password or settings.password_file or settings.username:
        options["credential_provider"] = Credentials()
    kind: type[redis.Connection] = redis.Connection
    if settings.tls:
        kind = redis.SSLConnection
        options["ssl_cert_reqs"] = "required"
        options["ssl_check_hostname"] = True
        if settings.ca_bundle is not None:
            options["ssl_ca_certs"] = str(settings.ca_bundle)
    pool = redis.BlockingConnectionPool(  # type: ignore[no-untyped-call]
        connection_class=kind,
        max_connections=_CONNECTIONS,
        timeout=settings.timeout_seconds,
        host=settings.host,
        port=settings.port,
        db=settings.database,
        socket_timeout=settings.timeout_seconds,
        socket_connect_timeout=settings.timeout_seconds,
        socket_keepalive=True,
        protocol=2,
        # A repeated script could count twice; callers decide whether to try again.
        retry=Retry(NoBackoff(), 0),
        **options,
    )
    return redis.Redis(connection_pool=pool)


def _why_no_connection(error: Exception) -> str:
    """Words a failed connection; the client's own text repeats the address."""
    cause: BaseException | None = error
    while cause is not None:
        name = type(cause).__name__
        if name == "SSLCertVerificationError":
            return _CERTIFICATES.get(getattr(cause, "verify_code", 0), _UNTRUSTED)
        if name.startswith("SSL"):
            if getattr(cause, "library", None) in {"X509", "PEM"}:
                return "store.ca_bundle has no certificate in the form PEM"
            return "TLS failed; is the port one for rediss://, with tls-auth-clients no?"
        if isinstance(cause, OSError) and cause.strerror:
            return f"no connection: {cause.strerror}"
        cause = cause.__cause__ or cause.__context__
    return "the connection was lost"


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)[:200]
