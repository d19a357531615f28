"""Runs a plugin's process, plain or in a sandbox: its log, its children, its end."""
