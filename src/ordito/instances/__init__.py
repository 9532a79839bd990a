"""Instances: their records, states and status, and the evaluation of functions at run time."""
