"""Diagnostics, spans, scalars and versions, ids, clock and sensitive values: what every other room may use."""
