"""Computes what a plugin may do: the manifest's requests, cut down to the operator's grant."""
