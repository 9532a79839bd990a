"""Benchmarks of whole processes; see ``run.py``."""
