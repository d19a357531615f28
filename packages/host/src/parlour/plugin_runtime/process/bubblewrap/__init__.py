"""Runs plugin processes in a bubblewrap sandbox.

`sandbox` decides whether there is one, and what happens without it.
"""

from .launcher import BubblewrapLauncher

__all__ = ["BubblewrapLauncher"]
