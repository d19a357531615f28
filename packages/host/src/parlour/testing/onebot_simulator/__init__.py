"""A OneBot 11 implementation with its QQ, for tests: it plays the side that NapCat plays, over real WebSockets.

It knows nothing of Parlour's adapter, and a third-party OneBot library is held against it, so that passing here counts.
"""

from . import native
from .faults import Faults
from .simulator import Simulator
from .world import Sent, World

__all__ = ["Faults", "Sent", "Simulator", "World", "native"]
