"""Plugins: what they say of themselves, where they come from, and how one is called."""
