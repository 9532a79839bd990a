"""Runs a plan: a core without clock and I/O, and a driver around it."""
