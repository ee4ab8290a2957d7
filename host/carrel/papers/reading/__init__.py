"""Reads papers: finds a paper's own words in the best form there is.

`forms` names the forms of a text. In the order of a reading: `copies` asks plugins and the store
where the text is, `download` gets a copy with the grants of the plugin that named it, `judging`
decides whether what came is the paper's text, `run` tries the copies, best form first, and `trace`
keeps what became of each. `tool` implements the tool `paper_read`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from carrel._lazy import lazy_names

if TYPE_CHECKING:
    from .run import PaperReader, ReadPaper

__all__ = ["PaperReader", "ReadPaper"]

__getattr__ = lazy_names(__name__, {"PaperReader": "run", "ReadPaper": "run"})
