"""JSON Schemas that come from plugins: bounds, references, validation, checks in a subprocess."""
