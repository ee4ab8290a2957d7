"""Implements `carrel papers`.

`stored` has the commands that need only the store and the log, `online` those that ask sources,
`fetch` the one that downloads, `graph` the one that draws citations, `reading` those that read and
check papers.
"""

from __future__ import annotations

from carrel.cli.command import ExampleGroup

from .fetch import fetch_command
from .graph import graph_command
from .online import resolve_command, search_command
from .reading import read_command, retractions_command
from .stored import export_command, info_command, list_command, verify_command

papers = ExampleGroup(
    "papers",
    help="Find, keep and export papers, and check where they came from.",
    no_args_is_help=True,
)
papers.example = "papers list"

for _command in (
    search_command,
    resolve_command,
    fetch_command,
    graph_command,
    read_command,
    retractions_command,
    list_command,
    info_command,
    export_command,
    verify_command,
):
    papers.add_command(_command)
