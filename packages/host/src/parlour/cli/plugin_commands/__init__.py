"""Commands for plugin authors, from a new plugin to its package. `parlour.cli.plugins` installs plugins."""
