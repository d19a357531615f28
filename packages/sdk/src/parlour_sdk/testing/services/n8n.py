"""A fake of an n8n webhook, written from the documentation of its Webhook, Chat Trigger and AI Agent nodes."""

import base64
from typing import Any, Literal

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply

JSON_STREAM = {"Content-Type": "application/json; charset=utf-8"}


class FakeN8n(FakeService):
    """One active workflow at `/webhook/agent`; `mode` is what the node's Respond setting is."""

    path = "/webhook/agent"

    def __init__(self, mode: Literal["streaming", "last_node", "immediately", "text", "file"] = "streaming") -> None:
        super().__init__()
        self.mode = mode
        self.authorization: str | None = None
        """The value that the header Authorization must have."""
        self.file = b""

    @property
    def webhook_url(self) -> str:
        return f"{self.url}{self.path}"

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if request.path != self.path:
            message = f'The requested webhook "{request.method} {request.path}" is not registered.'
            return JsonReply({"code": 404, "message": message, "hint": "The workflow must be active."}, 404)
        if request.method == "OPTIONS":
            return JsonReply(status=204, headers={"Allow": "OPTIONS, POST"})
        if self.authorization is not None and request.headers.get("authorization") != self.authorization:
            is_absent = "authorization" not in request.headers
            return JsonReply("Authorization data is wrong!", 401 if is_absent else 403)
        match self.mode:
            case "streaming":
                return StreamReply(self._events(), "lines", JSON_STREAM)
            case "last_node":
                return JsonReply([{"output": "".join(self.pieces)}])
            case "immediately":
                return JsonReply({"message": "Workflow was started"})
            case "text":
                return JsonReply("".join(self.pieces), headers={"Content-Type": "text/plain; charset=utf-8"})
            case _:
                return JsonReply(self.file, headers={"Content-Type": "image/png"})

    def received_files(self) -> list[bytes]:
        """Returns the files of all requests, whatever the way in which they were sent."""
        found = [file.content for request in self.requests for file in request.files]
        bodies = [request.json for request in self.requests if request.body]
        return found + [base64.b64decode(file["data"]) for body in bodies for file in body.get("files", [])]

    def _events(self) -> list[dict[str, Any]]:
        return [
            *_node("1", "Tool", []),
            *_node("2", "AI Agent", self.pieces),
        ]


def _node(node_id: str, name: str, pieces: list[str]) -> list[dict[str, Any]]:
    times = {"itemIndex": 0, "runIndex": 0, "timestamp": 1794970000000}
    metadata = {"nodeId": node_id, "nodeName": name, **times}
    items = [{"type": "item", "content": piece, "metadata": metadata} for piece in pieces]
    return [{"type": "begin", "metadata": metadata}, *items, {"type": "end", "metadata": metadata}]
