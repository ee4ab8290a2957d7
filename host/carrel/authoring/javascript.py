"""JavaScript: componentize-js, the compiler behind jco, puts a module and its engine together.

The module is `main` of `package.json`; with `"carrel": {"bytes": true}` there it also exports
`documents`. All of WASI that the engine could use is left out.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from carrel.errors import ArgumentError, BuildError

from .kit import contract_wit, world
from .project import Project, read_json
from .steps import Say, run_step

_FEATURES = ("stdio", "random", "clocks", "http", "fetch-event")
REMEDY = "install Node.js and run 'npm ci' in the project's folder"


def build_javascript(project: Project, say: Say) -> bytes:
    """Returns the component of a JavaScript module.

    Raises:
        ArgumentError: `package.json` names no module.
        BuildError: Node.js or componentize-js is not here, or failed.
    """
    folder = project.folder
    package_json = read_json(folder / "package.json")
    main = package_json.get("main", "plugin.js")
    if not isinstance(main, str) or not (folder / main).is_file():
        raise ArgumentError([f"{folder}: no {main}; name the module as main in package.json"])
    settings = package_json.get("carrel", {})
    reads_bytes = settings.get("bytes", False) if isinstance(settings, dict) else None
    if not isinstance(reads_bytes, bool):
        raise ArgumentError([f"{folder}: carrel.bytes in package.json is neither true nor false"])
    node = shutil.which("node")
    package = folder / "node_modules" / "@bytecodealliance" / "componentize-js"
    if node is None or not package.is_dir():
        missing = "Node.js" if node is None else "componentize-js"
        raise BuildError(f"{missing} is not installed", remedy=REMEDY)
    say("componentising with componentize-js")
    with tempfile.TemporaryDirectory(prefix="carrel-build-") as name:
        output = Path(name) / "component.wasm"
        options: list[str | Path] = [
            "--wit",
            contract_wit(),
            "--world-name",
            world(reads_bytes=reads_bytes),
            "--out",
            output,
        ]
        command: list[str | Path] = [
            node,
            _program(package),
            main,
            *options,
            "--disable",
            *_FEATURES,
        ]
        run_step(command, purpose="componentise the plugin", folder=folder, remedy=REMEDY)
        return output.read_bytes()


def _program(package: Path) -> Path:
    named = read_json(package / "package.json").get("bin")
    relative = named.get("componentize-js") if isinstance(named, dict) else named
    return package / str(relative or "src/cli.js")
