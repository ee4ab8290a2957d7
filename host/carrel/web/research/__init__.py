"""Helps an assistant with research: it searches, reads, records steps, and checks citations.

`tools` lists the tools. `academic` searches papers, `together` searches the web and reads what is
found, `sessions` records the steps of a line of research, `exporting` writes a session as a report,
`citing` collects evidence about citations, `formatting` writes bibliographies. `searching` and
`pages` are the interfaces to the web; a test replaces them.

The tools report what was found and where, and never that a claim is true.
"""

from __future__ import annotations
