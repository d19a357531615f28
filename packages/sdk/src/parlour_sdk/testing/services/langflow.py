"""A fake of Langflow's run API, written from recorded streams of langflow-base 1.13 and its documentation."""

from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply

EVENT_STREAM = {"Content-Type": "text/event-stream; charset=utf-8"}
"""What Langflow declares, although its events have no `data:`."""


class FakeLangflow(FakeService):
    """One flow, `flow-1`; without tokens it is a flow whose model does not stream."""

    def __init__(self, tokens: bool = True) -> None:
        super().__init__()
        self.tokens = tokens
        self.tools: list[dict[str, Any]] = []
        self.offered: list[str] = []
        """Names of files of the next answers."""
        self.files: dict[str, bytes] = {}

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["api", "v1", "run", "flow-1"]:
                return StreamReply(self._events(request.json), "lines", EVENT_STREAM)
            case "POST", ["api", "v1", "files", "upload", "flow-1"]:
                return JsonReply({"flowId": "flow-1", "file_path": f"flow-1/{request.files[0].name}"}, 201)
            case "GET", ["api", "v1", "files", "download", "flow-1", name]:
                return JsonReply(self.files[name])
            case "GET", ["api", "v1", "flows", "flow-1"]:
                return JsonReply({"id": "flow-1", "name": "Helper"})
            case _, ["api", "v1", "run" | "flows", flow]:
                return JsonReply({"detail": f"Flow identifier {flow} not found"}, 404)
        return JsonReply({"detail": "Not Found"}, 404)

    def _events(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        session = body["session_id"]
        answer = "".join(self.pieces)
        files = [f"flow-1/{name}" for name in self.offered]
        base = {"session_id": session, "flow_id": "flow-1", "files": [], "category": "message", "content_blocks": []}
        user = {**base, "id": "m-0", "sender": "User", "sender_name": "User", "text": body["input_value"]}
        machine = {**base, "id": "m-1", "sender": "Machine", "sender_name": "AI", "text": ""}
        blocks = [{"title": "Agent Steps", "contents": self.tools}] if self.tools else []
        whole = {**machine, "text": answer, "files": files, "content_blocks": blocks}
        tokens = [{"event": "token", "data": {"chunk": piece, "id": "m-1"}} for piece in self.pieces if self.tokens]
        usage = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
        message = {"text": answer, "data": {"text": answer, "sender": "Machine"}}
        output = {"results": {"message": message}, "artifacts": {"message": answer}, "component_id": "ChatOutput-1"}
        result = {"session_id": session, "outputs": [{"inputs": {}, "outputs": [output]}]}
        return [
            {"event": "add_message", "data": user},
            {"event": "add_message", "data": machine},
            *tokens,
            {"event": "add_message", "data": {**whole, "properties": {"state": "complete", "usage": usage}}},
            {"event": "end", "data": {"result": result}},
        ]
