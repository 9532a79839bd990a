"""Checking what this machine can run, and the condition of an ensemble."""
