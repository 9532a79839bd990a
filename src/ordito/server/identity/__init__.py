"""Who somebody is: passwords, tokens, sessions."""
