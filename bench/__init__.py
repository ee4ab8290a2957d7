"""Measurements of Carrel against its counterparts, as ratios; see README.md beside this file.

python -m bench
"""
