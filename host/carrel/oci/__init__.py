"""OCI registries: finding, pulling, storing and publishing plugins."""
