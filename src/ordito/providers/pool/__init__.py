"""Computes that are hosts of a pool, which the inventory names."""
