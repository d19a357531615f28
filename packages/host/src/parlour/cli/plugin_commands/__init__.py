"""The commands of a plugin's author, from the first line to the package. Installing is `parlour.cli.plugins`."""
