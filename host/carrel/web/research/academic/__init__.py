"""Searches papers for an assistant: a few, with links that can be read.

`request` is what is asked, `providers` says who answers, `paper` describes a work, `run` searches,
`doubtful` marks addresses that may be imitations.
"""

from __future__ import annotations

from .request import AcademicRequest
from .run import AcademicSearch

__all__ = ["AcademicRequest", "AcademicSearch"]
