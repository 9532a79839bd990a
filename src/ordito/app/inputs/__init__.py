"""What a service is given: values of the command, of the ensemble's user part, and of its environment."""
