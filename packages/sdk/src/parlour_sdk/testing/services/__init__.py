"""Fakes of agent services for tests: a scripted HTTP service on this machine with faults and recorded requests.

The fakes of known services are written from the documentation of their vendors.
"""

from .dify import FakeDify
from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply, UploadedPart
from .faults import ServiceFault, cut, delay, malformed, oversized, stall, status
from .n8n import FakeN8n

__all__ = [
    "FakeDify",
    "FakeN8n",
    "FakeService",
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
