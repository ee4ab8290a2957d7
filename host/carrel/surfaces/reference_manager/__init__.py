"""The tools and resources of reference-manager's MCP server."""
