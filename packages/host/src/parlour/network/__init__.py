"""Defines how the Host reaches other machines: through which proxy, and to which addresses."""
