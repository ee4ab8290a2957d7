"""HTTP to OCI registries: checked addresses, verified TLS, limits on time and size."""
