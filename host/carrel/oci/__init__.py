"""OCI registries: finding, fetching, keeping and publishing plugins."""
