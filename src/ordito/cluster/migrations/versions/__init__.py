"""The steps, each named after the version that it makes."""
