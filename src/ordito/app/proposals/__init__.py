"""Proposals: for each workflow, the plan of its request."""
