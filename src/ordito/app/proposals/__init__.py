"""Proposals: for each workflow, what a command asks for, and the plan that comes of it."""
