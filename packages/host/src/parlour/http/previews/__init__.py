"""Previews: administrators talk to a bot or a pipeline as if on its platform."""
