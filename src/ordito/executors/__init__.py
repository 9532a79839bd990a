"""Run batches of invocations: each executor is one way to run an operation."""
