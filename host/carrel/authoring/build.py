"""Builds a project's component, checks it, and embeds its manifest."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from carrel.errors import ArgumentError
from carrel.files.atomic_write import write_atomically

from .project import Project, find_project
from .steps import Say

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.plugins.manifests.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Built:
    """A built component and its manifest.

    Attributes:
        path: the file.
        digest: SHA-256 of its bytes, lower-case hex.
        size: bytes.
        seconds: time of building.
    """

    path: Path
    digest: str
    size: int
    manifest: Manifest
    language: str
    seconds: float


def build_plugin(folder: Path, config: Config, say: Say, *, output: Path | None = None) -> Built:
    """Builds the plugin in a folder.

    Args:
        folder: of the project; its files decide the language.
        config: for its folders and the runtime's limits.
        say: called with a message for every step.
        output: the file to write; `dist/NAME.wasm` in the project when None.

    Raises:
        ArgumentError: there is no project, or the output's name is invalid.
        BuildError: a tool is missing or failed.
        LoadError: a host would refuse the component; names every fault.
    """
    started = time.monotonic()
    project = find_project(folder)
    if output is not None and output.suffix != ".wasm":
        raise ArgumentError([f"{output}: a component's file ends in .wasm"])
    bare = _compile(project, config, say)
    say("reading the manifest in the sandbox")
    from carrel.plugins.manifests.agreement import require_documents
    from carrel.plugins.manifests.manifest import parse_manifest
    from carrel.runtime.documents import exports_documents

    from .sandbox import Sandbox
    from .sections import with_sections

    with Sandbox(config) as sandbox:
        text = sandbox.describe(bare, project.folder.name)
        manifest = parse_manifest(text, project.folder.name)
        require_documents(manifest, exported=exports_documents(bare))
        component = with_sections(bare, contract=manifest.contract, manifest=text)
        sandbox.refile_code(bare, component)
    path = output or project.dist / f"{manifest.name}.wasm"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, component, mode=None, flush=False)
    return Built(
        path.absolute(),
        hashlib.sha256(component).hexdigest(),
        len(component),
        manifest,
        project.language,
        time.monotonic() - started,
    )


def _compile(project: Project, config: Config, say: Say) -> bytes:
    if project.language == "rust":
        from .rust import build_rust

        return build_rust(project, config.cache_dir, say)
    if project.language == "python":
        from .python import build_python

        return build_python(project, say)
    from .javascript import build_javascript

    return build_javascript(project, say)
