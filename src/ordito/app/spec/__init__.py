"""What the user's part of `ensemble.yaml` comes to: values that stand elsewhere, environments, merging."""
