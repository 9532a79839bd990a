"""Pictures of a service: which boxes there are, and where they stand; for files, reports and pages alike."""
