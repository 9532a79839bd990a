"""Showing and changing the records by hand; each change is recorded as a job of its own."""
