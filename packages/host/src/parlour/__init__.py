"""Parlour, an agent host for chat."""
