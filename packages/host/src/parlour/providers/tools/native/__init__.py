"""The Host's own tools, each in a module of its own."""
