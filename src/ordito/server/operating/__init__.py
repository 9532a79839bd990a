"""What is done to a server beside it: looking at its home, checking its audit log, backing it up, restoring it."""
