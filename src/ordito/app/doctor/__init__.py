"""Looking what this machine can run, and how an ensemble is."""
