"""A processor of workflows, for tests."""
