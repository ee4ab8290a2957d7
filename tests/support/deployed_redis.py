"""Runs the shell commands of the Redis containers in `deploy/`, with a real server and client."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from .redis_process import require_redis


class DeployedRedis:
    """Where the commands of one container run: a folder for its data, its secrets and its programs.

    Args:
        folder: an empty one.
        port: of the server.
        password: of the server.
    """

    def __init__(self, folder: Path, port: int, password: str) -> None:
        self.folder = folder
        self._secret = folder / "password"
        self._secret.write_text(password, "utf-8")
        self._programs = folder / "bin"
        self._programs.mkdir()
        server = require_redis()
        self._wrap("redis-server", f"{shlex.quote(str(server))} --port {port} --bind 127.0.0.1")
        self._wrap("redis-cli", f"{_client(server)} -p {port}")

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Starts a command of a container, in a process group of its own."""
        return subprocess.Popen(
            self._words(command), env=self._environment(), cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip

    def succeeds(self, command: str) -> bool:
        """Returns whether a probe of a container succeeds."""
        done = subprocess.run(
            self._words(command), env=self._environment(), capture_output=True, check=False
        )
        return done.returncode == 0

    def _words(self, command: str) -> list[str]:
        """Returns the command as the container's shell gets it, with paths of this machine."""
        text = command.replace("$$", "$")  # Compose's spelling
        for secret in ("/run/secrets/redis_password", "/run/secrets/redis/redis-password"):
            text = text.replace(secret, str(self._secret))
        return ["sh", "-c", text.replace("dir /data", f"dir {self.folder}")]

    def _environment(self) -> dict[str, str]:
        return {"PATH": f"{self._programs}{os.pathsep}{os.environ['PATH']}"}

    def _wrap(self, name: str, command: str) -> None:
        path = self._programs / name
        path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', "utf-8")
        path.chmod(0o755)


def _client(server: Path) -> str:
    """Returns the command of the client that came with a server."""
    installed = shutil.which("redis-cli")
    if installed is not None:
        return shlex.quote(installed)
    tree = server.parent
    libraries = os.pathsep.join(str(one) for one in (tree / "usr/lib").glob("*"))
    words = ["env", f"LD_LIBRARY_PATH={libraries}", str(tree / "usr/bin/redis-cli")]
    return shlex.join(words)
