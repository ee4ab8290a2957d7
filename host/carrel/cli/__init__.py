"""Implements the command line: one module per group of commands, and the display of results and
errors.

`app` is the command group and imports a command's module when it is used; `command` declares the
options that all commands share. `session`, `parsing`, `document`, `report` and `output` do not
import the command-line library, so that the plain form of `carrel parse` starts without it.
"""
