"""Runs processes apart from the Host: sandbox, control group, process tree and cleanup, for any kind of command."""
