"""Helps an assistant with research: it searches, reads, records steps, and checks citations.

`tools` lists the tools. `academic` searches papers, `reading_together` searches the web and reads
what is found, `sessions` records the steps of a line of research, `exporting` writes a session as a
report, `verifying` and `auditing` collect evidence about citations, `formatting` writes
bibliographies. `searching` and `pages` are the seams to the web: a test hands in doubles.

Nothing here judges: a tool says what was found and where, and never that a claim is true.
"""

from __future__ import annotations
