"""Where a plugin's bytes come from (built in, a file, a registry) and the digest they must have."""
