"""A fake of WeKnora's API (0.7), written from its documentation."""

import base64
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class FakeWeKnora(FakeService):
    """One tenant with the knowledge base `kb-1`."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: set[str] = set()
        self.tools: list[dict[str, Any]] = []
        """Events of tools before the answer."""
        self.references: list[dict[str, Any]] = []

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.removeprefix("/api/v1").strip("/").split("/"):
            case "POST", ["sessions"]:
                session = f"s-{len(self.sessions) + 1}-{len(self.requests)}"
                self.sessions.add(session)
                return JsonReply({"success": True, "data": {"id": session}}, 201)
            case "POST", ["agent-chat" | "knowledge-chat", session]:
                return self._chat(session) if session in self.sessions else _error(404, "session not found")
            case "POST", ["sessions", _, "stop"]:
                return JsonReply({"success": True})
            case "GET", ["knowledge-bases"]:
                return JsonReply({"success": True, "data": [{"id": "kb-1", "name": "Manuals"}]})
        return _error(404, "not found")

    def received_files(self) -> list[bytes]:
        """Returns the files of all requests."""
        bodies = [request.json for request in self.requests if b"attachment_uploads" in request.body]
        return [base64.b64decode(file["data"]) for body in bodies for file in body["attachment_uploads"]]

    def _chat(self, session: str) -> StreamReply:
        def event(response_type: str, content: str = "", **fields: Any) -> tuple[str, dict[str, Any]]:
            return "message", {"id": "r-1", "response_type": response_type, "content": content, "done": False, **fields}

        usage = {"prompt_tokens": 12, "completion_tokens": 3}
        return StreamReply(
            [
                event("agent_query", session_id=session, assistant_message_id=f"m-{len(self.requests)}"),
                event("thinking", "hm", data={"event_id": "e-1"}),
                *[event(tool.pop("response_type"), tool.pop("content", ""), **tool) for tool in map(dict, self.tools)],
                *([event("references", knowledge_references=self.references)] if self.references else []),
                *[event("answer", piece) for piece in self.pieces],
                event("answer", done=True),
                event("complete", done=True, data={"total_steps": 1, "total_duration_ms": 5, "usage": usage}),
            ]
        )


def _error(status: int, message: str) -> JsonReply:
    return JsonReply({"success": False, "error": {"code": status, "message": message, "details": None}}, status)
