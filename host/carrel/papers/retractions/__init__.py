"""Says what became of a paper after its publication: retractions, concerns, corrections.

`sources` finds the plugins that can state such notices, `run` asks them and keeps who said what,
`result` says what that amounts to, `tool` implements the tool `paper_retractions`.
"""

from __future__ import annotations
