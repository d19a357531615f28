"""A Bot API server with its Telegram, for tests. It takes the role of api.telegram.org, over real HTTP.

It knows nothing of Parlour's adapter, and a third-party library is tested with it, so passing here counts.
"""

from . import native
from .failures import Failed
from .faults import Faults
from .simulator import Simulator
from .world import SentMessage, World

__all__ = ["Failed", "Faults", "SentMessage", "Simulator", "World", "native"]
