"""Locates folders, writes files atomically, and removes local paths from texts."""
