"""Plugins under attack: a real Host, real processes, a real sandbox, and a plugin that does all it can."""
