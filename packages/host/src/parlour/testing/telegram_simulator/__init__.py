"""A Bot API server with its Telegram, for tests: it plays the side that api.telegram.org plays, over real HTTP.

It knows nothing of Parlour's adapter, and a library of others is held against it, so that passing here counts.
"""

from . import native
from .failures import Failed
from .faults import Faults
from .simulator import Simulator
from .world import Shown, World

__all__ = ["Failed", "Faults", "Shown", "Simulator", "World", "native"]
