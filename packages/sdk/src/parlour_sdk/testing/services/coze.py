"""A fake of Coze's open API (v3 chats), written from its documentation. The unmodified cozepy reads it."""

import json
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class FakeCoze(FakeService):
    """One published bot, `bot-1`."""

    def __init__(self) -> None:
        super().__init__()
        self.conversations: set[str] = set()
        self.suggestions: list[str] = []
        self.offered: list[str] = []
        """Names of files of the next answers."""
        self.files: dict[str, bytes] = {}
        self.deltas = True
        """Whether fragments are sent, or only the whole message."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["v3", "chat"]:
                return self._chat(request)
            case "POST", ["v3", "chat", "cancel"]:
                body = request.json
                ids = {"id": body["chat_id"], "conversation_id": body["conversation_id"], "status": "canceled"}
                return _ok({**ids, "bot_id": "bot-1"})
            case "POST", ["v1", "files", "upload"]:
                name = request.files[0].name
                return _ok({"id": f"f-{len(self.requests)}", "bytes": 7, "created_at": 1794970000, "file_name": name})
            case "GET", ["v1", "bot", "get_online_info"] if request.query.get("bot_id") == "bot-1":
                return _ok({"bot_id": "bot-1", "name": "Helper", "description": "", "icon_url": ""})
            case "GET", ["v1", "bot", "get_online_info"]:
                return JsonReply({"code": 4200, "msg": "Requested resource bot_id does not exist"})
            case "GET", ["files", name]:
                return JsonReply(self.files[name])
        return JsonReply({"code": 4000, "msg": "no such path"}, 404)

    def _chat(self, request: RecordedRequest) -> ServiceReply:
        conversation = request.query.get("conversation_id") or None
        if conversation is not None and conversation not in self.conversations:
            detail = {"logid": "log-1"}
            return JsonReply({"code": 4200, "msg": "Requested resource conversation does not exist", "detail": detail})
        conversation = conversation or f"7{len(self.requests)}"
        self.conversations.add(conversation)
        ids = {"id": f"9{len(self.requests)}", "conversation_id": conversation, "bot_id": request.json["bot_id"]}
        return StreamReply([_event(name, data) for name, data in self._events(ids)])

    def _events(self, ids: dict[str, Any]) -> list[tuple[str, Any]]:
        message = {
            **ids,
            "id": "m-1",
            "role": "assistant",
            "type": "answer",
            "content_type": "text",
            "chat_id": ids["id"],
        }
        parts: list[dict[str, Any]] = [{"type": "text", "text": "".join(self.pieces)}]
        parts += [{"type": "image", "name": name, "file_url": f"{self.url}/files/{name}"} for name in self.offered]
        whole = {**message, "content": "".join(self.pieces)}
        if self.offered:
            whole |= {"content_type": "object_string", "content": json.dumps(parts)}
        verbose = json.dumps({"msg_type": "generate_answer_finish", "data": ""})
        usage = {"token_count": 15, "output_count": 3, "input_count": 12}
        return [
            ("conversation.chat.created", {**ids, "status": "created"}),
            ("conversation.chat.in_progress", {**ids, "status": "in_progress"}),
            *(("conversation.message.delta", {**message, "content": piece}) for piece in self.pieces if self.deltas),
            *([("conversation.message.completed", whole)] if self.pieces or self.offered else []),
            ("conversation.message.completed", {**message, "id": "m-2", "type": "verbose", "content": verbose}),
            *(
                ("conversation.message.completed", {**message, "id": "m-3", "type": "follow_up", "content": text})
                for text in self.suggestions
            ),
            ("conversation.chat.completed", {**ids, "status": "completed", "usage": usage}),
            ("done", "[DONE]"),
        ]


def _event(name: str, data: Any) -> bytes:
    return f"event:{name}\ndata:{json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _ok(data: Any) -> JsonReply:
    return JsonReply({"code": 0, "msg": "", "data": data})
