"""Runs citeproc-js, which `scripts/peers.py` installs, and makes requests as the `csl` plugin has
them.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
STYLES = ROOT / "host" / "carrel" / "citations" / "styles"
LOCALES = ROOT / "host" / "carrel" / "citations" / "locales"
_SCRIPT = Path(__file__).parent / "oracle.js"
#: The fifteen styles of the comparison.
FIFTEEN = (
    "american-chemical-society",
    "american-medical-association",
    "apa",
    "association-for-computing-machinery",
    "cell",
    "chicago-author-date",
    "elsevier-harvard",
    "harvard-cite-them-right",
    "ieee",
    "modern-language-association",
    "nature",
    "nlm-citation-sequence",
    "science",
    "springer-basic-author-date",
    "turabian-author-date",
)

Request = dict[str, Any]
Result = dict[str, Any]


def find() -> tuple[str, Path] | None:
    """Returns Node.js and citeproc-js; None if one of them is not installed."""
    spec = importlib.util.spec_from_file_location("peers", ROOT / "scripts" / "peers.py")
    assert spec is not None
    assert spec.loader is not None
    peers = importlib.util.module_from_spec(spec)
    import sys

    sys.modules.setdefault(spec.name, peers)  # dataclasses look their module up here
    spec.loader.exec_module(peers)
    node, citeproc = shutil.which("node"), peers.find("citeproc-js")
    return (node, citeproc) if node and citeproc else None


def run(requests: Sequence[Request]) -> list[Result]:
    """Returns what citeproc-js makes of requests; skips the test without it."""
    found = find()
    if found is None:
        pytest.skip("citeproc-js is not here; `just peers citeproc-js` gets it or says why not")
    node, citeproc = found
    done = subprocess.run(
        [node, str(_SCRIPT), str(citeproc)],
        input=json.dumps(list(requests)).encode(),
        capture_output=True,
        check=True,
    )
    results: list[Result] = json.loads(done.stdout)
    return results


def request(style: str | Path, items: Sequence[Any], **more: Any) -> Request:
    """Returns a request of the `csl` plugin for a vendored style or a file; a dependent style is
    resolved, and the locales that it may need are in it.
    """
    path = style if isinstance(style, Path) else STYLES / f"{style}.csl"
    text = path.read_text("utf-8")
    parent = re.search(r'href="[^"]*/([^"/]+)"\s+rel="independent-parent"', text)
    if parent:
        return request(path.with_name(f"{parent[1]}.csl"), items, **more)
    return {
        "style": text,
        "locales": _locales(text, more.get("locale")),
        "items": list(items),
        "format": "text",
        **more,
    }


def _locales(style: str, locale: str | None) -> dict[str, str]:
    default = re.search(r'default-locale="([^"]+)"', style)
    wanted = locale or (default[1] if default else "en-US")
    names = {"en-US", wanted}
    names |= {name for name in _all_locales() if name.partition("-")[0] == wanted.partition("-")[0]}
    return {name: _all_locales()[name] for name in sorted(names) if name in _all_locales()}


@cache
def _all_locales() -> dict[str, str]:
    files = LOCALES.glob("locales-*.xml")
    return {path.stem.removeprefix("locales-"): path.read_text("utf-8") for path in files}
