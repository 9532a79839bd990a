"""What is wanted: types resolved, requirements fulfilled."""
