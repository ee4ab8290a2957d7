"""Files and folders on this machine: where they are, and how they are written."""
