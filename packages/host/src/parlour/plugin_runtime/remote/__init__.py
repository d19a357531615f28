"""The Host's side of a Plugin Runtime that runs as a service of its own."""
