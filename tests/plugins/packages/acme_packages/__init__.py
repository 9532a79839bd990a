"""Processors of artifacts, for tests."""
