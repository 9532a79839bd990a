"""From a model and a snapshot to a plan: each workflow is a tuple of transforms over a draft graph."""
