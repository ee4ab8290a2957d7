"""The command line: one module per family of commands, and how results and errors are shown.

`app` is the group and loads each family when its command is used; `command` declares the options
that all commands share. `session`, `parsing`, `document`, `report` and `output` do not import the
command-line library, so that the plain form of `carrel parse` starts without it.
"""
