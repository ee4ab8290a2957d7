"""Implements `carrel library`; `convert` touches no library."""

from __future__ import annotations

from carrel.cli.command import ExampleGroup

from .convert import convert_command

library = ExampleGroup(
    "library",
    help="Convert bibliographies from one format to another.",
    no_args_is_help=True,
)
library.example = "library convert refs.bib --to csl-json"

for _one in (convert_command,):
    library.add_command(_one)
