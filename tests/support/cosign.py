"""Runs cosign without a network and without the tester's files."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from support.http_repository import HttpRepository
from support.registries import peer

PASSWORD = b"correct horse"


class Cosign:
    """cosign of one major version; skips the test if it is not installed."""

    def __init__(self, version: int, home: Path) -> None:
        self._program = peer(f"cosign{version}")
        self._version = version
        self._env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "COSIGN_PASSWORD": PASSWORD.decode(),
        }

    def says(
        self,
        repository: HttpRepository,
        reference: str,
        arguments: Sequence[str],
        *,
        log: bool = False,
    ) -> str:
        """Returns why cosign refuses a signature; empty if it accepts.

        Args:
            repository: the repository of the signature.
            reference: a tag or a digest.
            arguments: the required signer.
            log: whether to require an entry in a transparency log.
        """
        options = ["--allow-http-registry", *([] if log else ["--insecure-ignore-tlog"])]
        done = self._run("verify", *options, *arguments, _name(repository, reference))
        return done.stderr or "no" if done.returncode else ""

    def sign(self, repository: HttpRepository, digest: str, key: Path, *options: str) -> None:
        """Signs without a transparency log."""
        words = ["--yes", "--tlog-upload=false", "--allow-http-registry", "--key", str(key)]
        words += ["--use-signing-config=false"] if self._version == 3 else []
        done = self._run("sign", *words, *options, _name(repository, digest))
        assert done.returncode == 0, done.stderr

    def generate(self, prefix: Path) -> None:
        """Makes a key pair under `PASSWORD`."""
        done = self._run("generate-key-pair", "--output-key-prefix", str(prefix))
        assert done.returncode == 0, done.stderr

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._program, *words],
            env=self._env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def _name(repository: HttpRepository, reference: str) -> str:
    mark = "@" if reference.startswith("sha256:") else ":"
    return f"{repository.host}/{repository.name}{mark}{reference}"
