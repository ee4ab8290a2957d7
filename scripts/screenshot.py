"""Makes the pictures in the documentation, from invented data.

    .venv/bin/python scripts/screenshot.py [NAME…]    all of them, or `graph` or `page`

`graph` is a citation graph, `page` the page of a server. Needs Chromium, and the development
environment: Pillow, which reduces the colours, comes with python-pptx.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURES = {
    "graph": ROOT / "docs" / "how-to" / "citation-graph.png",
    "page": ROOT / "docs" / "how-to" / "server-page.png",
}
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def graph() -> bytes:
    """Returns the window with an invented citation graph."""
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
            return tab.screenshot()


def server_page() -> bytes:
    """Returns the window with the page of an invented server."""
    from support.chromium import open_tab
    from support.operations_page import PageServer, invented_view

    with (
        tempfile.TemporaryDirectory() as name,
        PageServer(invented_view()) as served,
        open_tab(Path(name)) as tab,
    ):
        tab.size(1280, 1660)
        tab.media(prefers_color_scheme="light", prefers_reduced_motion="reduce")
        tab.open(served.url)
        return tab.screenshot()


def main() -> None:
    """Writes the pictures."""
    from PIL import Image

    makers = {"graph": graph, "page": server_page}
    for name in sys.argv[1:] or makers:
        shot = makers[name]()
        picture = Image.open(io.BytesIO(shot)).convert("RGB")
        picture.quantize(200, dither=Image.Dither.NONE).save(PICTURES[name], optimize=True)
        print(f"{PICTURES[name]}: {PICTURES[name].stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
