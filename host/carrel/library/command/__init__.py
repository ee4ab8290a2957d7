"""Implements `carrel library`.

`reading` has the commands that only read the library, `changing` those that change it, `checking`
the one that asks sources about it, `texts` those for full texts, `keeping` those for backups;
`convert` touches no library. `options` is what they share.
"""

from __future__ import annotations

from carrel.cli.command import ExampleGroup

from .changing import add_command, merge_command, remove_command
from .checking import check_command
from .convert import convert_command
from .keeping import backups_command, restore_command
from .reading import export_command, list_command, search_command, show_command
from .texts import attach_command, detach_command, fulltext_command

library = ExampleGroup(
    "library",
    help="Keep references in one file, and find, check, export and convert them.",
    no_args_is_help=True,
)
library.example = "library add 10.1103/PhysRevLett.130.200601 isbn:9780306406157"

for _command in (
    list_command,
    search_command,
    show_command,
    add_command,
    remove_command,
    merge_command,
    check_command,
    attach_command,
    detach_command,
    fulltext_command,
    export_command,
    convert_command,
    backups_command,
    restore_command,
):
    library.add_command(_command)
