"""Running operations in containers."""
