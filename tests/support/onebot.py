"""Provides the other end of a OneBot bot: an implementation that a test controls step by step."""

import itertools
import json
import socket
import time
from contextlib import ExitStack
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage
from websockets.sync.client import ClientConnection, connect

from .harness import eventually

SELF = 10001
SECONDS = 30.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Peer:
    def __init__(self, port: int, token: str = "") -> None:
        self._port = port
        self._token = token
        self._open = ExitStack()
        self._numbers = itertools.count(int(time.time() * 1000) % 10**9)
        self._socket: ClientConnection = eventually(self._connected, "the bot lets its peer in", SECONDS)
        lifecycle = {"post_type": "meta_event", "meta_event_type": "lifecycle", "sub_type": "connect"}
        self.report(**lifecycle)

    def _connected(self) -> ClientConnection | None:
        headers = {"X-Self-ID": str(SELF), "X-Client-Role": "Universal"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection = connect(f"ws://127.0.0.1:{self._port}/onebot/v11/ws", additional_headers=headers)
            return self._open.enter_context(connection)
        except (OSError, InvalidHandshake, InvalidMessage):
            return None

    def report(self, **event: Any) -> None:
        self._socket.send(json.dumps({"time": int(time.time()), "self_id": SELF, **event}))

    def say(
        self,
        text: str,
        user: int = 7,
        group: int = 0,
        mention: bool = False,
        sender: dict[str, Any] | None = None,
        before: list[dict[str, Any]] | None = None,
    ) -> int:
        """Reports a message and returns its id; `before` are segments before the text."""
        segments: list[dict[str, Any]] = [{"type": "at", "data": {"qq": str(SELF)}}] if mention else []
        segments += [*(before or []), {"type": "text", "data": {"text": text}}]
        message_id = next(self._numbers)
        place = {"message_type": "group", "group_id": group} if group else {"message_type": "private"}
        self.report(
            post_type="message",
            sub_type="normal" if group else "friend",
            message_id=message_id,
            user_id=user,
            message=segments,
            raw_message=text,
            sender={"user_id": user, "nickname": "Ann", "role": "member", **(sender or {})},
            **place,
        )
        return message_id

    def recall(self, message_id: int, user: int, group: int) -> None:
        """Reports that a user took a message back; without a group, one of a private chat."""
        fields = {"user_id": user, "message_id": message_id}
        if group:
            fields |= {"operator_id": user, "group_id": group}
        self.report(post_type="notice", notice_type="group_recall" if group else "friend_recall", **fields)

    def next_send(self) -> tuple[str, str]:
        """Returns target and text of the bot's next message. Other calls of the bot are answered on the way."""
        while True:
            frame = json.loads(self._socket.recv(SECONDS))
            if "action" not in frame:
                continue
            self._answer(frame)
            if frame["action"].startswith("send_"):
                return _chat(frame["params"]), _text(frame["params"]["message"])

    def next_call(self, action: str) -> dict[str, Any]:
        """Returns the parameters of the bot's next call of this name. Earlier calls are answered, and so is this."""
        while True:
            frame = json.loads(self._socket.recv(SECONDS))
            self._answer(frame)
            if frame.get("action") == action:
                return dict(frame["params"])

    def refuse(self, action: str) -> None:
        """Refuses the bot's next call of this name. Earlier calls are answered."""
        while (frame := json.loads(self._socket.recv(SECONDS))).get("action") != action:
            self._answer(frame)
        no = {"status": "failed", "retcode": 1400, "data": None, "wording": "not now", "echo": frame.get("echo")}
        self._socket.send(json.dumps(no))

    def _answer(self, frame: dict[str, Any]) -> None:
        data: Any = {"message_id": next(self._numbers), "user_id": SELF, "nickname": "bot"}
        answer = {"status": "ok", "retcode": 0, "data": data, "echo": frame.get("echo")}
        self._socket.send(json.dumps(answer))

    def is_cut(self) -> bool:
        try:
            self._socket.recv(SECONDS)
        except ConnectionClosed:
            return True
        return False

    def close(self) -> None:
        self._open.close()


def _chat(parameters: dict[str, Any]) -> str:
    group = parameters.get("group_id")
    return f"group {group}" if group else f"private {parameters['user_id']}"


def _text(message: Any) -> str:
    if isinstance(message, str):
        return message
    return "".join(each["data"]["text"] for each in message if each["type"] == "text")
