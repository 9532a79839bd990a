"""What every other room may use: diagnostics, spans, scalars, versions, ids, the clock and sensitive values."""
