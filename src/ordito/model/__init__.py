"""The resolved service: types flattened, requirements fulfilled, values checked."""
