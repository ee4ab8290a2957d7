"""The surface of doiget: thirteen tools that resolve, fetch, list and export papers."""
