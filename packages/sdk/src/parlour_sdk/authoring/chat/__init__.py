"""A chat with a runner in the terminal, on a fake Host: no separate process, no network, nothing is stored."""
