"""The command line. Each command imports only what it uses, so that a small one answers immediately."""
