"""Fakes of agent services for tests: a scripted HTTP service on this machine with faults and recorded requests.

The fakes of known services are written from the documentation of their vendors.
"""

from .coze import FakeCoze
from .dashscope import FakeDashScope
from .dify import FakeDify
from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply, UploadedPart
from .faults import ServiceFault, cut, delay, malformed, oversized, stall, status
from .langflow import FakeLangflow
from .n8n import FakeN8n
from .tbox import FakeTbox

__all__ = [
    "FakeCoze",
    "FakeDashScope",
    "FakeDify",
    "FakeLangflow",
    "FakeN8n",
    "FakeService",
    "FakeTbox",
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
