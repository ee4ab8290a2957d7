"""Runs `carrel` as a process, with pipes or on a pseudo-terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .compiled_code import share_code

FAKE = Path(__file__).parent / "fake_carrel.py"


@dataclass(frozen=True)
class Done:
    """The exit code and output of a process. On a terminal `out` has both streams."""

    code: int
    out: str
    err: str = ""


@dataclass(frozen=True)
class CommandLine:
    """Starts processes with their own home directory.

    Attributes:
        real: whether to run the real host instead of the test double `fake_carrel`.
    """

    home: Path
    real: bool = False

    def __post_init__(self) -> None:
        if self.real:
            share_code(self.home / ".cache" / "carrel")

    def words(self, *words: str) -> list[str]:
        start = ["-m", "carrel"] if self.real else [str(FAKE)]
        return [sys.executable, *start, *words]

    def environment(self, env: Mapping[str, str] | None = None) -> dict[str, str]:
        keep = ("PATH", "SYSTEMROOT", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "TEMP")
        return {
            **{name: os.environ[name] for name in keep if name in os.environ},
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "LOCALAPPDATA": str(self.home),
            **(env or {}),
        }

    def write(self, name: str, data: str | bytes) -> str:
        """Writes a file into the home directory and returns its name."""
        (self.home / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return name

    def __call__(
        self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Done:
        done = subprocess.run(
            self.words(*words),
            input=stdin,
            capture_output=True,
            env=self.environment(env),
            cwd=self.home,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str, ignoring: str = "") -> subprocess.Popen[bytes]:
        """Returns a process that the test ends itself; stdin is closed.

        Args:
            words: of the command.
            ignoring: names of signals that the process ignores when it starts, such as `INT`.
        """
        ignore = ["sh", "-c", f'trap "" {ignoring}; exec "$@"', "sh"] if ignoring else []
        return subprocess.Popen(
            [*ignore, *self.words(*words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            cwd=self.home,
        )

    def on_terminal(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        columns: int = 100,
        typed: bytes = b"",
    ) -> Done:
        """Runs on a pseudo-terminal, which POSIX alone has; `typed` is what the user types."""
        import fcntl
        import pty
        import struct
        import termios

        control, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen(
            self.words(*words),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=self.environment({"TERM": "xterm-256color", **(env or {})}),
            cwd=self.home,
        )
        os.close(terminal)
        os.write(control, typed)
        seen = b""
        while True:
            try:
                chunk = os.read(control, 65536)
            except OSError:  # Linux reports the end of a terminal this way
                break
            if not chunk:
                break
            seen += chunk
        os.close(control)
        return Done(process.wait(timeout=60), seen.decode().replace("\r\n", "\n"))
