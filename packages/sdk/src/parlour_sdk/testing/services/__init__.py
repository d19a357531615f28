"""Fakes of agent services for tests: a scripted HTTP service on this machine with faults and recorded requests.

The fakes of known services are written from the documentation of their vendors.
"""

from .a2a import FakeA2a
from .coze import FakeCoze
from .dashscope import FakeDashScope
from .deerflow import FakeDeerFlow
from .dify import FakeDify
from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply, UploadedPart
from .faults import ServiceFault, cut, delay, malformed, oversized, stall, status
from .langflow import FakeLangflow
from .litellm_agent_platform import FakeAgentPlatform
from .n8n import FakeN8n
from .tbox import FakeTbox
from .weknora import FakeWeKnora

__all__ = [
    "FakeA2a",
    "FakeAgentPlatform",
    "FakeCoze",
    "FakeDashScope",
    "FakeDeerFlow",
    "FakeDify",
    "FakeLangflow",
    "FakeN8n",
    "FakeService",
    "FakeTbox",
    "FakeWeKnora",
    "JsonReply",
    "RecordedRequest",
    "ServiceFault",
    "ServiceReply",
    "StreamReply",
    "UploadedPart",
    "cut",
    "delay",
    "malformed",
    "oversized",
    "stall",
    "status",
]
