"""Starts a Chromium without a network in a fresh profile, and ends it with all its processes."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from carrel.errors import SourceError

#: Names of the program, the first that is found counts.
PROGRAMS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
#: Bytes of memory that all processes may have, of a script's heap, and of a file.
MEMORY_BYTES: Final = 1536 * 2**20
_HEAP_MEBIBYTES: Final = 256
_FILE_BYTES: Final = 64 * 2**20
#: Seconds of processor time of each process.
_PROCESSOR_SECONDS: Final = 60

_FLAGS: Final = (
    "--headless=new",
    "--remote-debugging-pipe",
    # No network: nothing resolves, not even the proxy's name, and there is no other way out.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://none.invalid:9",
    "--proxy-bypass-list=<-loopback>",
    "--dns-prefetch-disable",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-pings",
    # Nothing of its own.
    "--disable-background-networking",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    # Nothing that reading needs.
    "--deny-permission-prompts",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-notifications",
    "--disable-speech-api",
    "--hide-scrollbars",
    "--mute-audio",
    "--blink-settings=imagesEnabled=false",
    "--renderer-process-limit=2",
    f"--js-flags=--max-old-space-size={_HEAP_MEBIBYTES}",
)
#: Limits the process, makes two descriptors the protocol's, 3 and 4, and becomes the browser.
_START: Final = """
import fcntl, os, resource, sys
for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, int(sys.argv[3])),
                   (resource.RLIMIT_CPU, int(sys.argv[4]))):
    resource.setrlimit(what, (most, most))
one, other = (fcntl.fcntl(int(word), fcntl.F_DUPFD, 10) for word in sys.argv[1:3])
os.dup2(one, 3)
os.dup2(other, 4)
os.execv(sys.argv[5], sys.argv[5:])
"""


def find_program() -> str:
    """Returns the path of the browser.

    Raises:
        SourceError: there is none.
    """
    for name in PROGRAMS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise SourceError(
        "plugin_unavailable",
        "web.browser is set, and there is no Chromium: install one (apt install chromium), or take "
        "the setting out",
        plugin="",
        tool="web_read",
    )


class BrowserProcess:
    """A running Chromium.

    Attributes:
        to: the descriptor that commands are written to.
        back: the descriptor that answers are read from.

    Raises:
        SourceError: there is no browser, or it does not start.
    """

    def __init__(self) -> None:
        program = find_program()
        self._profile = Path(tempfile.mkdtemp(prefix="carrel-browser-"))
        child_in, self.to = os.pipe()
        self.back, child_out = os.pipe()
        limits = [str(_FILE_BYTES), str(_PROCESSOR_SECONDS)]
        # As root Chromium cannot start its own sandbox.
        own = ["--no-sandbox"] if os.geteuid() == 0 else []
        flags = [*_FLAGS, *own, f"--user-data-dir={self._profile}", "about:blank"]
        command = [sys.executable, "-Ic", _START, str(child_in), str(child_out), *limits]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - fixed words and the found program
                [*command, program, *flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(child_in, child_out),
                start_new_session=True,
                cwd=self._profile,
                env=_environment(self._profile),
            )
        except OSError as fault:
            self._forget()
            raise SourceError(
                "plugin_unavailable",
                f"{program} does not start: {fault.strerror}",
                plugin="",
                tool="web_read",
            ) from None
        finally:
            os.close(child_in)
            os.close(child_out)

    @property
    def memory(self) -> int:
        """Bytes of memory that all its processes have, as far as the system says so."""
        total = 0
        for entry in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = entry.read_text("ascii", "replace").rpartition(")")[2].split()
                if int(fields[3]) == self._process.pid:
                    total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
        return total

    def close(self) -> None:
        """Ends all its processes and removes the profile. Idempotent."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._forget()

    def _forget(self) -> None:
        for descriptor in (self.to, self.back):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self.to = self.back = -1
        shutil.rmtree(self._profile, ignore_errors=True)


def _environment(profile: Path) -> dict[str, str]:
    """Returns the variables of the browser: no secrets, no proxies, no home of a person."""
    inherited = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ
    }
    directories = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR")
    return {**inherited, **dict.fromkeys(directories, str(profile))}
