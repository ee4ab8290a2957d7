"""The surface of pubmed-mcp-server 1.0.0: three tools and two resources about PubMed."""
