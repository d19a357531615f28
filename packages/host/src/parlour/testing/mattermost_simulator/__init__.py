"""A simulated Mattermost: WebSocket and REST API on one port, with its limits, errors and faults."""

from .simulator import MattermostSimulator
from .world import MattermostRefusal, MattermostWorld, SentPost

__all__ = ["MattermostRefusal", "MattermostSimulator", "MattermostWorld", "SentPost"]
