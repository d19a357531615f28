"""Reads the sources that plugins are installed from: folders, archives, git. Reads and copies; installs nothing."""
