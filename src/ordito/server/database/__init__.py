"""What the server remembers of its own: users, projects, tokens, what was done."""
