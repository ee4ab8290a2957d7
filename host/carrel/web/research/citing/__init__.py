"""Collects evidence about citations: whether a work exists, was retracted, and speaks of a claim.

`evidence` is what is known of one citation, `verifying` collects it for one, `auditing` for a whole
bibliography, `titles` compares titles, `notices` says what became of a work, `entries` reads
bibliographies. Evidence is never a verdict: a source that does not answer says nothing, and a
sentence that has a claim's words may deny it.
"""

from __future__ import annotations
