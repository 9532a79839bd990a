"""Conditions of lifecycle steps: expressions in that part of the language CUE that a yes or no needs."""
