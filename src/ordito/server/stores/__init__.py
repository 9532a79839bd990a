"""A server over a store: ensembles, jobs and packages that are in no directory of its own."""
