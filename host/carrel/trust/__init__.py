"""Signatures: who published a plugin, proven in this process and bound to its digest."""
