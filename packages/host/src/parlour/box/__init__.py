"""The Box runtime: a process of its own that runs commands of agents in isolated sessions."""
