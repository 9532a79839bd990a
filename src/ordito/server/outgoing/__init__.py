"""What the server does towards others: it tells receivers of webhooks, and follows repositories in git."""
