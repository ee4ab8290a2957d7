"""Offers Carrel's tools under the names and in the shapes of web-researcher-mcp."""
