"""The processes that answer in place of the server: its own reads no template, and runs no operation."""
