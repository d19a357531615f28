"""The common ground of platform simulators: a server on loopback, a world of users and chats, planned faults, and
strict validation.

A simulator knows nothing of Parlour's adapter. It rejects what the real platform rejects; one that accepts everything
proves nothing.
"""

from .base import Outcome, PlatformSimulator, SimulatedCall
from .faults import PlannedFault, SimulatorFaults
from .malformed import STRANGE_VALUES, damaged
from .rates import RateWindows
from .server import SimulatorServer, SimulatorSocket
from .validation import InvalidRequest, SingleUseTokens, check_fields, text_field
from .world import SimulatedChat, SimulatedMessage, SimulatedUser, SimulatedWorld

__all__ = [
    "STRANGE_VALUES",
    "InvalidRequest",
    "Outcome",
    "PlannedFault",
    "PlatformSimulator",
    "RateWindows",
    "SimulatedCall",
    "SimulatedChat",
    "SimulatedMessage",
    "SimulatedUser",
    "SimulatedWorld",
    "SimulatorFaults",
    "SimulatorServer",
    "SimulatorSocket",
    "SingleUseTokens",
    "check_fields",
    "damaged",
    "text_field",
]
