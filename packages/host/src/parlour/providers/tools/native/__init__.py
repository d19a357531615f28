"""The Host's own tools, one module each."""
