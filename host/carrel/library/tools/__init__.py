"""The tools of the library, one module for each group; `specs` describes them to clients."""
