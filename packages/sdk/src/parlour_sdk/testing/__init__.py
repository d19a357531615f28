"""Tests a plugin without a Host: `run = await FakeHost().run(Greeter(), "hello")`. See docs/plugins/testing.md."""

from .client import HandlerFailed
from .components import PluginWarning
from .events import BOT, GROUP, USER, event, message
from .host import FakeHost
from .run import FakeRun
from .script import Failure, FakeModel, Reply, embedding, failure, reply, reranker, tool_call
from .served.actions import FakeAction
from .served.artifacts import FakeArtifact
from .served.platform import SentMessage
from .served.tools import FakeTool
from .sessions import RecordedCall

__all__ = [
    "BOT",
    "GROUP",
    "USER",
    "Failure",
    "FakeAction",
    "FakeArtifact",
    "FakeHost",
    "FakeModel",
    "FakeRun",
    "FakeTool",
    "HandlerFailed",
    "PluginWarning",
    "RecordedCall",
    "Reply",
    "SentMessage",
    "embedding",
    "event",
    "failure",
    "message",
    "reply",
    "reranker",
    "tool_call",
]
