"""One job: running it from its first step to its files, resuming, cancelling and rolling it back."""
