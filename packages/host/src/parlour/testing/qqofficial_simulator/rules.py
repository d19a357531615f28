"""The rules of the simulated QQ for replies: windows, counts, and numbers that are used once."""

import re
import time
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]
MAX_REPLIES = 5
WINDOW_SECONDS = {"users": 3600.0, "groups": 300.0, "channels": 300.0, "dms": 300.0}
MAX_CHARACTERS = 4000
_ADDRESS = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|cn|org|net)\b")


class QQSimulatorRefusal(Exception):
    """An answer with an HTTP status and an error code."""

    def __init__(self, status: int, code: int, message: str = "refused") -> None:
        super().__init__(f"{status} {code} {message}")
        self.status = status
        self.code = code
        self.message = message


@dataclass
class Answerable:
    """A message or event that can be answered in its chat."""

    chat: str
    kind: str
    at: float = field(default_factory=time.monotonic)
    numbers: set[int] = field(default_factory=set)


class ReplyRules:
    """The messages that can be answered, by id."""

    def __init__(self) -> None:
        self.answerable: dict[str, Answerable] = {}
        self.own_messages = 0
        """Messages without a reply that are still accepted."""
        self.shift_seconds = 0.0
        """Seconds by which the clock of QQ is ahead."""
        self.allows_addresses = False
        self.allows_markdown = True

    def check_reply(self, kind: str, chat: str, body: Json) -> None:
        """Checks what a message answers. Raises QQSimulatorRefusal."""
        native_id = body.get("msg_id") or body.get("event_id")
        if not native_id:
            if self.own_messages <= 0:
                raise QQSimulatorRefusal(400, 40034102, "no permission to send active messages")
            self.own_messages -= 1
            return
        answered = self.answerable.get(str(native_id))
        late = answered and time.monotonic() + self.shift_seconds - answered.at > WINDOW_SECONDS[kind]
        if answered is None or answered.chat != chat or late:
            raise QQSimulatorRefusal(400, 40034024, "msg_id is invalid or expired")
        number = int(body.get("msg_seq", 1))
        if number in answered.numbers:
            raise QQSimulatorRefusal(400, 40054005, "消息被去重，请检查请求msgseq")
        if len(answered.numbers) >= MAX_REPLIES:
            raise QQSimulatorRefusal(400, 40034024, "reply limit of msg_id exceeded")
        answered.numbers.add(number)

    def check_content(self, body: Json) -> None:
        kind = body.get("msg_type", 0)
        content = body.get("content", "")
        if kind == 2:
            if not self.allows_markdown:
                raise QQSimulatorRefusal(400, 50056, "markdown not allowed")
            content = body.get("markdown", {}).get("content", "")
            rows = body.get("keyboard", {}).get("content", {}).get("rows", [])
            if len(rows) > 5 or any(not 1 <= len(row["buttons"]) <= 5 for row in rows):
                raise QQSimulatorRefusal(400, 40034011, "invalid keyboard")
        elif kind not in (0, 7):
            raise QQSimulatorRefusal(400, 40034010, "invalid msg_type")
        if not isinstance(content, str) or not content or len(content) > MAX_CHARACTERS:
            raise QQSimulatorRefusal(400, 40034008, "invalid content")
        if _ADDRESS.search(content) and not self.allows_addresses:
            raise QQSimulatorRefusal(400, 40054010, "url not allowed")
