"""The use cases over HTTP: what a command asks of a server, and how it follows what happens there."""
