"""Benchmarks of Carrel against counterparts, as ratios; see `bench/README.md`.

python -m bench
"""
