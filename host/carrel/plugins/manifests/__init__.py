"""What a plugin says of itself: the manifest, its names and URI templates, and how it is read."""
