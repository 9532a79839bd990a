"""Renderings of the one stream of events that a job emits."""
