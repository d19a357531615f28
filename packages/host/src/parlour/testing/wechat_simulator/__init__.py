"""A simulated iLink gateway of WeChat: logins by QR code, long polls, context tokens, and encrypted files."""

from .files import encrypted
from .simulator import ACCOUNT, TOKEN, SentWechatMessage, WechatSimulator

__all__ = ["ACCOUNT", "TOKEN", "SentWechatMessage", "WechatSimulator", "encrypted"]
