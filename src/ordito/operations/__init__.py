"""What the steps of a plan mean while a job runs: how each is prepared, and what its start and its end change."""
