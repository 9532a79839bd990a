"""Blocks of lifecycle steps: their names, the values of steps, and the language of conditions."""
