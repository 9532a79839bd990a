"""The values that a service gets: from the command, from the user part of the ensemble, and from its environment."""
