"""Schedules: what the server asks for by the clock, and the drift that it remembers."""
