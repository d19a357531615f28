"""A simulated Slack: Web API, Socket Mode and signed calls, with its limits, errors and faults."""

from .simulator import SlackSimulator
from .world import SentSlackMessage, SlackRefusal, SlackWorld

__all__ = ["SentSlackMessage", "SlackRefusal", "SlackSimulator", "SlackWorld"]
