"""Fakes of agent services for tests: a scripted HTTP service on this machine with faults and recorded requests."""

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply, UploadedPart
from .faults import ServiceFault, cut, delay, malformed, oversized, stall, status

__all__ = [
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
