"""A call of a plugin: while it runs, its result, and the cache of results."""
