"""Builds the desktop bundle `dist/carrel-VERSION.mcpb`, which clients such as Claude Desktop open.

    python scripts/mcpb.py [--wheel FILE]       run by the development environment's Python

The bundle has a manifest, the wheel, and a project file that names the wheel. The client runs it
with uv, which installs the dependencies for the user's platform at the first start. If the tool of
the bundle's format is installed (`python3 scripts/peers.py mcpb`), it validates the manifest.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import peers
from environment import ROOT, say

DIST = ROOT / "dist"
#: Of each file in the bundle, so that equal contents give an equal bundle.
_TIME = (1980, 1, 1, 0, 0, 0)


def manifest(version: str) -> dict[str, Any]:
    """Returns the manifest of the bundle."""
    return {
        "manifest_version": "0.4",
        "name": "carrel",
        "display_name": "Carrel",
        "version": version,
        "description": "arXiv, Crossref, PubMed, OpenAlex and more, each in its own sandbox",
        "long_description": (
            "Finds and reads scholarly works. Each source's parser runs in a WebAssembly sandbox: "
            "it sees only the documents that the server passes to it, and fetches only from hosts "
            "it declares."
        ),
        "author": {"name": "The Carrel authors"},
        "license": "Apache-2.0",
        "keywords": ["arxiv", "crossref", "pubmed", "bibliography", "webassembly"],
        "server": {
            "type": "uv",
            "entry_point": "pyproject.toml",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "--no-dev", "carrel", "serve"],
                "env": {
                    "CARREL_CONTACT": "${user_config.contact}",
                    "CARREL_LIBRARY": "${user_config.library}",
                    "CARREL_SECRET_EUTILS_API_KEY": "${user_config.ncbi_api_key}",
                },
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": ">=3.11"},
        },
        "user_config": {
            "contact": {
                "type": "string",
                "title": "Contact address",
                "description": "An e-mail address that upstream services may write to.",
                "required": False,
                "default": "",
            },
            "library": {
                "type": "file",
                "title": "Reference library",
                "description": "A CSL-JSON or BibTeX file that the library tools read and change.",
                "required": False,
                "default": "",
            },
            "ncbi_api_key": {
                "type": "string",
                "title": "NCBI API key",
                "description": "Allows more requests a second to PubMed.",
                "required": False,
                "sensitive": True,
                "default": "",
            },
        },
    }


def project(wheel: str, version: str) -> str:
    """Returns the project file: uv installs the wheel and its dependencies."""
    return (
        f'[project]\nname = "carrel-bundle"\nversion = "{version}"\n'
        'requires-python = ">=3.11"\ndependencies = ["carrel"]\n\n'
        f'[tool.uv]\npackage = false\n\n[tool.uv.sources]\ncarrel = {{ path = "{wheel}" }}\n'
    )


def bundle(wheel: Path, into: Path) -> Path:
    """Writes the bundle of a wheel; returns its path."""
    version = wheel.name.split("-")[1]
    path = into / f"carrel-{version}.mcpb"
    files = {
        "manifest.json": json.dumps(manifest(version), indent=2).encode() + b"\n",
        "pyproject.toml": project(wheel.name, version).encode(),
        wheel.name: wheel.read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    into.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return path


def validate(path: Path) -> str:
    """Returns what the format's tool says about the bundle's manifest; empty without the tool.

    Raises:
        CalledProcessError: the manifest is not valid.
    """
    tool = peers.find("mcpb")
    if tool is None:
        return ""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(path) as archive:
            archive.extract("manifest.json", folder)
        command = ["node", str(tool), "validate", f"{folder}/manifest.json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
    return done.stdout.strip()


def main() -> int:
    """Builds the wheel if none is given, then the bundle."""
    parser = argparse.ArgumentParser(description="Build the desktop bundle.")
    parser.add_argument("--wheel", type=Path, help="use this wheel instead of building one")
    parser.add_argument("--into", type=Path, default=DIST, help="the folder of the bundle")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        wheel = options.wheel
        if wheel is None:
            build = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT)]
            subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
            [wheel] = Path(folder).glob("*.whl")
        path = bundle(wheel, options.into)
    try:
        validation = validate(path)
    except subprocess.CalledProcessError:
        return 1
    say(f"{path}: {validation or 'not validated: python3 scripts/peers.py mcpb gets the tool'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
