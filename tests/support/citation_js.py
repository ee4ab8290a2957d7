"""Runs citation-js, which `scripts/peers.py` installs, over bibliographies in BibTeX and RIS."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = """
const { createRequire } = require('module');
const load = createRequire(process.argv[1]);
const { Cite } = load('@citation-js/core');
load('@citation-js/plugin-bibtex');
load('@citation-js/plugin-ris');
const fs = require('fs');
console.warn = console.error = () => {};
const found = {};
for (const file of fs.readFileSync(0, 'utf8').split('\\n').filter(Boolean)) {
  try {
    found[file] = new Cite(fs.readFileSync(file, 'utf8'), { generateGraph: false }).data;
  } catch (fault) {
    found[file] = null;
  }
}
process.stdout.write(JSON.stringify(found));
"""


def items_of(paths: Sequence[Path]) -> dict[Path, list[dict[str, Any]] | None]:
    """Returns the items of each file; None for one that citation-js refuses."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
    try:
        import peers
    finally:
        sys.path.pop(0)
    node, lock = shutil.which("node"), peers.find("citation-js")
    if node is None or lock is None:
        pytest.skip("citation-js is not here; `just peers citation-js` gets it or says why not")
    done = subprocess.run(
        [node, "-e", _SCRIPT, str(lock)],
        input="\n".join(map(str, paths)),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return {Path(path): items for path, items in json.loads(done.stdout).items()}
