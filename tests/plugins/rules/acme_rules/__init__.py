"""Rules of policies, for tests."""
