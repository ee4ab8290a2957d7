"""Signatures: who signed a plugin, verified in this process and bound to its digest."""
