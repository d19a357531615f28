"""Programs that the Host starts for plugins, outside the plugins' own sandboxes."""
