"""A Plugin Runtime as a service of its own: the plugins are kept as inside a Host, and one Host at a time uses them."""
