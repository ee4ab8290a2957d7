"""Starts a real Redis server on loopback, with a password, TLS, and a file that outlives a kill."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
import trustme

from carrel.state.redis_settings import RedisSettings

_ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(_ROOT / "scripts"))
import peers  # noqa: E402 -- it is a script, beside the tests

PASSWORD = "p@ss:w/rd?"

#: Options of a server that takes 20 ms for each entry of its log when it starts, after
#: `rewrite_log`, and answers meanwhile.
LOADS_SLOWLY = {"key-load-delay": "20000", "loading-process-events-interval-bytes": "1024"}


def require_redis() -> Path:
    """Returns the server's program; skips the test if there is none."""
    program = peers.find("redis-server")
    if program is None:
        pytest.skip("redis-server is not here; `just peers redis-server` gets it or says why not")
    return program


def free_port() -> int:
    """Returns a port of loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


class RedisProcess:
    """One server; a context manager.

    Args:
        folder: its data, its log and its certificates.
        tls: whether it speaks TLS, with a certificate made here.
        options: further options of its command line, such as `maxmemory`.
    """

    def __init__(
        self, folder: Path, *, tls: bool = False, options: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.tls = tls
        self.authority = folder / "authority.pem"
        self._options = dict(options or {})
        self._program = require_redis()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        if tls:
            self._ca = trustme.CA()
            self._write_certificate()

    def settings(self, **changes: object) -> RedisSettings:
        """Returns how to reach it."""
        given: dict[str, object] = {
            "host": "127.0.0.1",
            "port": self.port,
            "password": PASSWORD,
            "tls": self.tls,
            "ca_bundle": self.authority if self.tls else None,
        }
        return RedisSettings(**(given | changes))  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """The URL with the password."""
        scheme = "rediss" if self.tls else "redis"
        return f"{scheme}://:p%40ss%3Aw%2Frd%3F@127.0.0.1:{self.port}/0"

    def start(self, *, wait: bool = True) -> None:
        """Starts it, again if it was killed.

        Args:
            wait: until it has loaded its data and answers.
        """
        port = (
            ["--port", "0", "--tls-port", str(self.port)]
            if self.tls
            else ["--port", str(self.port)]
        )
        tls = []
        if self.tls:
            tls = ["--tls-cert-file", str(self.folder / "server.pem")]
            tls += ["--tls-key-file", str(self.folder / "server.key")]
            tls += ["--tls-ca-cert-file", str(self.authority), "--tls-auth-clients", "no"]
        rest = [word for name, value in self._options.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [
                str(self._program), *port, *tls, "--bind", "127.0.0.1", "--dir", str(self.folder),
                "--requirepass", PASSWORD, "--save", "", "--appendonly", "yes",
                "--appendfsync", "always",
                "--logfile", str(self.folder / "redis.log"), *rest,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if wait:
            self._wait()

    def kill(self) -> None:
        """Ends it with SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(10)

    def freeze(self) -> None:
        """Stops it with SIGSTOP: connections stay open, and nothing answers."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Resumes it after `freeze`."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def command(self, *words: str) -> Any:
        """Runs a command as the operator."""
        import redis

        options = {"ssl": True, "ssl_ca_certs": str(self.authority)} if self.tls else {}
        client = redis.Redis("127.0.0.1", self.port, password=PASSWORD, **options)  # type: ignore[arg-type]
        try:
            return client.execute_command(*words)  # type: ignore[no-untyped-call]
        finally:
            client.close()
            client.connection_pool.disconnect()

    def rewrite_log(self) -> None:
        """Writes all entries into the first part of the log."""
        self.command("BGREWRITEAOF")
        end = time.monotonic() + 20
        while self.command("INFO", "persistence")["aof_rewrite_in_progress"]:
            assert time.monotonic() < end
            time.sleep(0.01)

    def renew_certificate(self, *, not_after: datetime) -> None:
        """Gives the running server another certificate."""
        self._write_certificate(not_after)
        # It reads the files when one of their names is set.
        self.command("CONFIG", "SET", "tls-cert-file", str(self.folder / "server.pem"))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._process is not None and self._process.poll() is None:
            self.thaw()
            self.kill()

    def _wait(self) -> None:
        from redis.exceptions import RedisError

        assert self._process is not None
        end = time.monotonic() + 20
        while True:
            try:
                self.command("PING")
            except (RedisError, OSError):
                assert self._process.poll() is None, (self.folder / "redis.log").read_text()
                assert time.monotonic() < end, (self.folder / "redis.log").read_text()
                time.sleep(0.01)
            else:
                return

    def _write_certificate(self, not_after: datetime | None = None) -> None:
        issued = self._ca.issue_cert("127.0.0.1", not_after=not_after)
        self._ca.cert_pem.write_to_path(str(self.authority))
        issued.private_key_pem.write_to_path(str(self.folder / "server.key"))
        chain = b"".join(one.bytes() for one in issued.cert_chain_pems)
        (self.folder / "server.pem").write_bytes(chain)
        (self.folder / "server.key").chmod(0o600)
