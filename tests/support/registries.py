"""Starts real registries on loopback, and runs real clients to compare with Carrel.

    with docker_registry(tmp_path) as registry:
        with open_repository(registry.reference("plugins/demo:1"), registry.settings) as repository:
            ...

`scripts/peers.py` installs the programs; a missing one skips the test with the reason.
"""

from __future__ import annotations

import base64
import ctypes
import ctypes.util
import importlib.util
import json
import os
import secrets
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from carrel.oci.reference import ImageReference, parse_reference
from carrel.oci.settings import RegistrySettings

_SCRIPT = Path(__file__).parents[2] / "scripts" / "peers.py"


def _load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("carrel_peers", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules[spec.name] = module  # dataclasses look their module up here
    spec.loader.exec_module(module)
    return module


_PEERS = _load_script()


def peer(name: str) -> Path:
    """Returns a program (`crane`, `oras`, `cosign2`, `cosign3`, `docker-registry`…); skips the
    test without it.
    """
    found = _PEERS.find(name)
    if found is None:
        pytest.skip(f"{name} is not here; `just peers {name}` gets it or says why not")
    assert isinstance(found, Path)
    return found


@dataclass(frozen=True)
class Registry:
    """A running registry.

    Attributes:
        host: `127.0.0.1:PORT`.
        docker_config: a folder with Docker's credentials for it, made for this test.
        has_referrers: whether it has the referrers API.
        users: user → password; without users no login is required.
    """

    host: str
    docker_config: Path
    has_referrers: bool
    users: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> RegistrySettings:
        """Returns Carrel's settings for it."""
        return RegistrySettings(
            plain_http_hosts=frozenset({self.host}), docker_config=self.docker_config, retries=1
        )

    def reference(self, name: str) -> ImageReference:
        """Returns the reference of `NAME:TAG` in this registry."""
        return parse_reference(f"oci://{self.host}/{name}")

    def run(self, program: str, *words: str, check: bool = True, cwd: Path | None = None) -> str:
        """Runs a real client with this registry's credentials; returns its stdout."""
        done = subprocess.run(
            [peer(program), *words],
            env={**os.environ, "DOCKER_CONFIG": str(self.docker_config)},
            capture_output=True,
            text=True,
            cwd=cwd,
            timeout=60,
            check=False,
        )
        assert not check or done.returncode == 0, f"{program} {words}: {done.stderr}"
        return done.stdout

    def log_out(self) -> None:
        """Removes the credentials."""
        (self.docker_config / "config.json").unlink(missing_ok=True)

    def log_in(self, user: str, password: str) -> None:
        """Stores credentials where `docker login` does."""
        self.docker_config.mkdir(exist_ok=True)
        pair = base64.b64encode(f"{user}:{password}".encode()).decode()
        (self.docker_config / "config.json").write_text(
            json.dumps({"auths": {self.host: {"auth": pair}}}), "utf-8"
        )


@contextmanager
def docker_registry(
    folder: Path, *, with_login: bool = False, auth: str = ""
) -> Iterator[Registry]:
    """Starts Debian's `docker-registry`: without the referrers API; with users if given.

    `auth` is another configuration of its authorization, as one line of YAML.
    """
    program = peer("docker-registry")
    port, users = free_port(), {}
    config = f"""version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {folder / "registry"}}}, delete: {{enabled: true}}}}
http: {{addr: "127.0.0.1:{port}"}}
"""
    config += f"auth: {auth}\n" if auth else ""
    if with_login:
        users = {"reader": secrets.token_urlsafe(12)}
        lines = [f"{user}:{bcrypt(password)}" for user, password in users.items()]
        (folder / "htpasswd").write_text("\n".join(lines), "utf-8")
        config += f"auth: {{htpasswd: {{realm: carrel-tests, path: {folder / 'htpasswd'}}}}}\n"
    (folder / "registry.yml").write_text(config, "utf-8")
    command = [str(program), "serve", str(folder / "registry.yml")]
    registry = Registry(f"127.0.0.1:{port}", folder / "docker", has_referrers=False, users=users)
    with _running(command, registry, folder):
        for user, password in users.items():
            registry.log_in(user, password)
        yield registry


@contextmanager
def referrers_registry(folder: Path) -> Iterator[Registry]:
    """Starts go-containerregistry's registry with the referrers API, in memory."""
    program = peer("referrers-registry")
    host = f"127.0.0.1:{free_port()}"
    registry = Registry(host, folder / "docker", has_referrers=True)
    with _running([str(program), host], registry, folder):
        yield registry


#: The two kinds of registries: without the referrers API and with it.
KINDS = {"docker-registry": docker_registry, "referrers-registry": referrers_registry}


def free_port() -> int:
    """Returns an unused port on loopback."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def bcrypt(password: str) -> str:
    """Returns the hash that `htpasswd -B` writes, by the system's libcrypt; skips without one."""
    name = ctypes.util.find_library("crypt")
    if name is None:
        pytest.skip("no libcrypt here to make a password file with")
    crypt = ctypes.CDLL(name).crypt
    crypt.restype = ctypes.c_char_p
    salt = base64.b64encode(secrets.token_bytes(16), altchars=b"./").decode()[:21] + "."
    hashed = crypt(password.encode(), f"$2b$04${salt}".encode())
    if not hashed or not hashed.startswith(b"$2b$"):
        pytest.skip("the libcrypt here has no bcrypt")
    return str(hashed.decode())


@contextmanager
def _running(command: list[str], registry: Registry, folder: Path) -> Iterator[None]:
    registry.docker_config.mkdir(exist_ok=True)
    with (folder / "registry.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "HOME": "/"})
        try:
            _wait_for(registry.host, process)
            yield
        finally:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(host: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        assert process.poll() is None, f"the registry ended with {process.returncode}"
        try:
            urllib.request.urlopen(f"http://{host}/v2/", timeout=2).close()
        except urllib.error.HTTPError as answer:
            answer.close()
            return  # it requires a password
        except OSError:
            time.sleep(0.05)
            continue
        return
    raise AssertionError("the registry did not start")
