"""Plugin processes in a bubblewrap sandbox. Whether there is one, and what happens without, is decided in `sandbox`."""

from .launcher import BubblewrapLauncher

__all__ = ["BubblewrapLauncher"]
