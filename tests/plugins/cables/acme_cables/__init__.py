"""A provider of machines, disks and cables, for tests."""
