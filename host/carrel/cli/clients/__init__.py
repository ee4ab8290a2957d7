"""Adds Carrel to the configuration of MCP clients, for `carrel doctor --fix`.

`known` lists the clients, with their files and formats. `change` computes the new text of a file
and writes it. It uses one editor for each format: `jsonc`, `toml_tables` and `yaml_mappings`. An
editor changes only the lines of Carrel's entry, so that comments and other entries stay as they
are; `change` then reads the new text and refuses it if anything else has changed.
"""
