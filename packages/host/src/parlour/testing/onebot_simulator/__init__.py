"""A OneBot 11 implementation with its QQ, for tests. It takes the role of NapCat, over real WebSockets.

It knows nothing of Parlour's adapter, and a third-party OneBot library is tested with it, so passing here counts.
"""

from . import native
from .faults import Faults
from .simulator import Simulator
from .world import Sent, World

__all__ = ["Faults", "Sent", "Simulator", "World", "native"]
