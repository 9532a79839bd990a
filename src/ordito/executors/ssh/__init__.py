"""Hosts that are reached by SSH."""
