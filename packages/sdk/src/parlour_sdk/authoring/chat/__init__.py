"""Talking to a runner in the terminal, on a fake Host: no process of its own, no network, nothing is kept."""
