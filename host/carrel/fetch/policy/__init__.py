"""What a plugin may fetch: host entries, the manifest's rules, and the operator's grant."""
