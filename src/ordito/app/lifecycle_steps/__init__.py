"""Lifecycle steps as a service declares them: their file, the blocks that carry them out, the paths they name."""
