"""Makes plugin projects with a built component and fixtures, without a compiler."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from carrel.authoring.sections import with_sections
from support.guests import guest
from support.manifests import manifest_text

URL = "https://api.example.org/v1/items"
#: Fetches URL, and traps if the fetch fails.
FETCHES = "(if (call $get (i32.const 4096) (i32.const 32)) (then unreachable))"
assert len(URL) == 32


def component(*, url: str = URL, **options: Any) -> bytes:
    """Returns a component of the sample manifest that returns `{"n": 1}` unless options say
    otherwise.
    """
    text = options.pop("manifest", manifest_text())
    if options.get("body") == FETCHES:
        options |= {"fetching": True, "data": f'(data (i32.const 4096) "{url}")'}
    options = {"result": '{"n":1}', **options}
    return with_sections(guest(manifest=text, **options).wasm, contract="1.0", manifest=text)


def project(folder: Path, wasm: bytes | None = None) -> Path:
    """Returns a Rust project whose component is already built."""
    (folder / "dist").mkdir(parents=True)
    (folder / "fixtures").mkdir()
    (folder / "Cargo.toml").write_text('[package]\nname = "sample-plugin"\n', "utf-8")
    (folder / "dist" / "sample.wasm").write_bytes(component() if wasm is None else wasm)
    return folder


def fixture(folder: Path, name: str, **files: object) -> Path:
    """Returns a case in a project; keys are file names with `_` for `.`, values JSON or text."""
    case = folder / "fixtures" / name
    case.mkdir()
    for key, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value)
        (case / key.replace("_", ".")).write_text(text, "utf-8")
    return case


def exchange(case: Path, url: str = URL) -> None:
    """Returns a recorded exchange of a case."""
    (case / "exchanges").mkdir(exist_ok=True)
    recording = {
        "format": 1,
        "request": {"method": "GET", "url": url},
        "response": {"status": 200, "url": url, "headers": []},
    }
    (case / "exchanges" / "001-GET-api.json").write_text(json.dumps(recording), "utf-8")
