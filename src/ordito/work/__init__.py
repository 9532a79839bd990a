"""The vocabulary of work: plans, steps, events, commands, outcomes, records, and the ports."""
