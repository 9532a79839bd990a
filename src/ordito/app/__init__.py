"""One use case per file; the only place that wires rooms together."""
