"""What goes into an archive of a service (CSAR)."""
