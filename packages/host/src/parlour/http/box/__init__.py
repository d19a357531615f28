"""The Box over HTTP."""
