"""What an operator approved of a plugin: `carrel.lock`, its entries, and the checks against it."""
