"""A simulated DingTalk: stream mode, the APIs of robots, files by download codes, and AI cards."""

from .simulator import DingTalkSimulator, SentDingTalkMessage
from .stream import DingTalkRefusal

__all__ = ["DingTalkRefusal", "DingTalkSimulator", "SentDingTalkMessage"]
