"""Makes the picture of a citation graph in the documentation, from invented papers.

    .venv/bin/python scripts/screenshot.py

Needs Chromium, and the development environment: Pillow, which reduces the colours, comes with
python-pptx.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "how-to" / "citation-graph.png"
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def main() -> None:
    """Writes the picture."""
    from PIL import Image

    from carrel.papers.graph.formats import WRITERS
    from support.chromium import open_tab
    from support.citations import invented_graph

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page = folder / "graph.html"
        page.write_text(WRITERS["html"](invented_graph()), "utf-8")
        with open_tab(folder) as tab:
            tab.size(1360, 790)
            tab.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
            tab.open(page)
            shot = tab.screenshot()
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(200, dither=Image.Dither.NONE)
    picture.save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
