"""Templates, evaluated in a sandbox with bounds."""
