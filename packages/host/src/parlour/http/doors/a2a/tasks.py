"""Writes turns as tasks of A2A 1.0: whole, or as the events of a stream."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from typing import Any

from parlour.core.model.ports import Clock

from ..streaming import UpdateStream
from ..turns import Turn
from ..updates import ApprovalRequested, MessageEnd, TextDelta, TurnEnd
from .messages import MessageParts

Json = dict[str, Any]
APPROVAL_TEXT = "An action of the agent waits for a person's approval."


def task_id(turn: Turn) -> str:
    return f"task_{turn.seq}"


def parse_task_id(name: Any) -> int:
    """Returns the number of the event; 0 if this is no id of a task."""
    digits = name.removeprefix("task_") if isinstance(name, str) else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else 0


class TaskWriter:
    """Writes tasks for one request."""

    def __init__(self, parts: MessageParts, address: str, clock: Clock) -> None:
        self._parts = parts
        self._address = address
        self._clock = clock

    async def ended(self, turn: Turn, end: TurnEnd, at: int = 0, with_artifacts: bool = True) -> Json:
        """Returns the task of a turn that has ended."""
        messages = end.messages if with_artifacts else ()
        artifacts = [
            {"artifactId": _artifact_id(index), "parts": await self._parts.parts(message, self._address)}
            for index, message in enumerate(messages)
        ]
        return {**_ids(turn), "status": self._end_status(turn, end, at), "artifacts": artifacts}

    def working(self, turn: Turn, state: str = "WORKING") -> Json:
        """Returns the task of a turn that has not ended."""
        return {**_ids(turn), "status": self._status(state)}

    async def events(self, turn: Turn, stream: UpdateStream) -> AsyncGenerator[Json | None, None]:
        """Yields the events of a task from its beginning, and None whenever there was none for a while."""
        place = {"taskId": task_id(turn), "contextId": turn.chat}
        yield {"task": self.working(turn)}
        begun: set[int] = set()
        async for update in stream.updates():
            match update:
                case None:
                    yield None
                case TextDelta():
                    artifact = {"artifactId": _artifact_id(update.index), "parts": [{"text": update.text}]}
                    append = update.index in begun
                    begun.add(update.index)
                    yield {"artifactUpdate": {**place, "artifact": artifact, "append": append, "lastChunk": False}}
                case MessageEnd():
                    files = await self._parts.files(update.message, self._address)
                    if files or update.index in begun:
                        artifact = {"artifactId": _artifact_id(update.index), "parts": files or [{"text": ""}]}
                        append = update.index in begun
                        yield {"artifactUpdate": {**place, "artifact": artifact, "append": append, "lastChunk": True}}
                case ApprovalRequested():
                    yield {"statusUpdate": {**place, "status": self._status("AUTH_REQUIRED", APPROVAL_TEXT, turn)}}
                case TurnEnd():
                    yield {"statusUpdate": {**place, "status": self._end_status(turn, update)}}

    def _end_status(self, turn: Turn, end: TurnEnd, at: int = 0) -> Json:
        if end.code == "cancelled" or end.outcome == "cancelled":
            return self._status("CANCELED", at=at)
        if end.failed:
            return {
                **self._status("FAILED", end.text or end.code, turn, at),
                "message": {**_agent_message(turn, end.text or end.code), "metadata": {"code": end.code}},
            }
        return self._status("COMPLETED", at=at)

    def _status(self, state: str, text: str = "", turn: Turn | None = None, at: int = 0) -> Json:
        moment = datetime.fromtimestamp((at or self._clock.now()) / 1000, UTC)
        stamp = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        status: Json = {"state": f"TASK_STATE_{state}", "timestamp": stamp}
        return {**status, "message": _agent_message(turn, text)} if text and turn is not None else status


def _ids(turn: Turn) -> Json:
    return {"id": task_id(turn), "contextId": turn.chat}


def _artifact_id(index: int) -> str:
    return "answer" if index == 0 else f"answer-{index + 1}"


def _agent_message(turn: Turn, text: str) -> Json:
    return {
        "messageId": f"{task_id(turn)}-status",
        "taskId": task_id(turn),
        "contextId": turn.chat,
        "role": "ROLE_AGENT",
        "parts": [{"text": text}],
    }
