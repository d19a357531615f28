"""A fake of the API of Ant Tbox, written from its SDK's documentation. The unmodified tboxsdk reads it."""

import json
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class FakeTbox(FakeService):
    """One application, `app-1`."""

    def __init__(self) -> None:
        super().__init__()
        self.conversations: set[str] = set()
        self.other_lanes: dict[str, str] = {}
        self.offered: list[str] = []
        """Names of pictures of the next answers."""
        self.files: dict[str, bytes] = {}
        self.revoked = ""
        """A text that is said first and then revoked."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["api", "chat"]:
                return self._chat(request)
            case "POST", ["api", "file", "upload"]:
                return _ok(f"f-{len(self.requests)}")
            case "GET", ["api", "conversation", "conversations"]:
                if request.query.get("appId") != "app-1":
                    return _error("APP_NOT_EXIST", "the application does not exist")
                return _ok({"currentPage": 1, "pageSize": 1, "total": 0, "conversations": []})
            case "GET", ["files", name]:
                return JsonReply(self.files[name])
        return JsonReply({"errorCode": "NOT_FOUND", "errorMsg": "no such path"}, 404)

    def _chat(self, request: RecordedRequest) -> ServiceReply:
        conversation = request.json.get("conversationId")
        if conversation is not None and conversation not in self.conversations:
            return _error("CONVERSATION_NOT_EXIST", "the conversation does not exist")
        conversation = conversation or f"c-{len(self.requests)}"
        self.conversations.add(conversation)
        ids = {"conversationId": conversation, "messageId": f"m-{len(self.requests)}"}
        return StreamReply([*self._events(ids), _event("end", "default", {})])

    def _events(self, ids: dict[str, str]) -> list[bytes]:
        events = [_event("meta", "default", ids), _event("header", "default", {"mediaType": "text"})]
        if self.revoked:
            events += [_event("chunk", "default", {**ids, "text": self.revoked}), _event("revoke", "default", {})]
        events += [_event("chunk", "default", {**ids, "text": piece}) for piece in self.pieces]
        for lane, text in self.other_lanes.items():
            events += [_event("header", lane, {"mediaType": "text"}), _event("chunk", lane, {**ids, "text": text})]
        if self.offered:
            urls = [f"{self.url}/files/{name}" for name in self.offered]
            events += [_event("header", "picture", {"mediaType": "image"}), _event("chunk", "picture", {"url": urls})]
        return events


def _event(kind: str, lane: str, payload: dict[str, Any]) -> bytes:
    data = {"type": kind, "lane": lane, "payload": json.dumps(payload, ensure_ascii=False)}
    return f"event:message\ndata:{json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _ok(data: Any) -> JsonReply:
    return JsonReply({"errorCode": "0", "errorMsg": "success", "data": data, "traceId": "t-1"})


def _error(code: str, message: str) -> JsonReply:
    return JsonReply({"errorCode": code, "errorMsg": message, "data": None, "traceId": "t-1"})
