"""Text and JSON: decoding under limits, checking UTF-8, making text safe to print."""
