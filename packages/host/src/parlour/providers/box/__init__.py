"""The Host's side of the Box: the connection to its process, its tools, and what operators see of it."""
