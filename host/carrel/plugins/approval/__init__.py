"""Approval of plugins: `carrel.lock`, its entries, and the checks against it."""
