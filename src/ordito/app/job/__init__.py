"""One job: carried out from its first step to its files, resumed, cancelled, rolled back."""
