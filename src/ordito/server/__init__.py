"""The server: several people look at ensembles, plan, and follow jobs from one place, over HTTP."""
