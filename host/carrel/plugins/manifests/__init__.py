"""What a plugin declares: the manifest, tool names and URI templates, and how it is read."""
