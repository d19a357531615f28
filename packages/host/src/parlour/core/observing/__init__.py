"""Sees what was committed and tells it on: to whoever watches live, and to the figures. Changes nothing."""
