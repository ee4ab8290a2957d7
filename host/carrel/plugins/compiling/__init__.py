"""Compiling plugins before they are needed, and progress messages for calls that wait for it."""
