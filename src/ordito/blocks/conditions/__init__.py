"""Conditions of lifecycle steps: expressions of the language CUE, as many of its forms as a yes or no needs."""
