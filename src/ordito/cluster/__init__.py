"""Ensembles whose rows are in a shared PostgreSQL: the store, its leases, and what many machines carry out together."""
