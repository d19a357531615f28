"""A fake of DashScope's application API, written from its documentation. The unmodified dashscope SDK reads it."""

import json
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class FakeDashScope(FakeService):
    """One application, `app-1`; `workflow` makes its nodes answer."""

    def __init__(self, workflow: bool = False) -> None:
        super().__init__()
        self.workflow = workflow
        self.sessions: set[str] = set()
        self.thoughts: list[dict[str, Any]] = []
        self.references: list[dict[str, Any]] = []
        self.is_cumulative = False
        """Whether each event has the whole text so far, as some applications send it."""
        self.stream_error: tuple[int, str, str] | None = None
        """Status, code and message of an error in the stream."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        parts = request.path.strip("/").split("/")
        if parts[-3:-1] != ["apps", "app-1"] or parts[-1] != "completion":
            return _error(404, "NotFound", "App not exist")
        body = request.json
        given: dict[str, Any] = body["input"]
        if not given.get("prompt") and "messages" not in given:
            return _error(400, "InvalidParameter", "Required parameter prompt missing or invalid")
        session = given.get("session_id")
        if session is not None and session not in self.sessions:
            return _error(400, "InvalidParameter", "The session_id is invalid or expired")
        session = session or f"s-{len(self.requests)}"
        self.sessions.add(session)
        return StreamReply([_block(number, *event) for number, event in enumerate(self._events(session), 1)])

    def _events(self, session: str) -> list[tuple[str, int, Any]]:
        def output(text: str, **fields: Any) -> tuple[str, int, Any]:
            whole = {"session_id": session, "finish_reason": "null", "text": text, **fields}
            return "result", 200, {"output": whole, "usage": usage, "request_id": "r-1"}

        usage = {"models": [{"model_id": "qwen", "input_tokens": 12, "output_tokens": 3}]}
        events = [output("", thoughts=[thought]) for thought in self.thoughts]
        said = ""
        for piece in self.pieces:
            said += piece
            if self.workflow:
                said_by_node = {"role": "assistant", "content": piece}
                node = {"node_id": "End_1", "node_name": "End", "node_type": "End", "node_status": "executing"}
                events.append(output("", workflow_message={**node, "node_msg_seq_id": 0, "message": said_by_node}))
            else:
                events.append(output(said if self.is_cumulative else piece))
        if self.stream_error is not None:
            status, code, message = self.stream_error
            return [*events, ("error", status, {"code": code, "message": message, "request_id": "r-1"})]
        last = said if self.workflow or self.is_cumulative else ""
        return [*events, output(last, finish_reason="stop", doc_references=self.references)]


def _block(number: int, name: str, status: int, data: Any) -> bytes:
    text = json.dumps(data, ensure_ascii=False)
    return f"id:{number}\nevent:{name}\n:HTTP_STATUS/{status}\ndata:{text}\n\n".encode()


def _error(status: int, code: str, message: str) -> JsonReply:
    return JsonReply({"code": code, "message": message, "request_id": "r-1"}, status)
