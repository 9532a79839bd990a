"""Plans: what somebody has asked for, from the request to its job, with approvals, queue and freeze."""
