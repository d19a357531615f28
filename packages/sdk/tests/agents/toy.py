"""A fake of the toy service, and the rig of its runner."""

from pathlib import Path
from typing import Any

from parlour_sdk.testing.runners import ServiceRig
from parlour_sdk.testing.services import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class ToyService(FakeService):
    def __init__(self) -> None:
        super().__init__()
        self.conversations: set[str] = set()
        self.files: dict[str, bytes] = {}
        self.extra: list[Any] = []
        self.count = 0

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["chat"]:
                return self.chat(request.json)
            case "POST", ["chat", _, "stop"]:
                return JsonReply({"result": "ok"})
            case "POST", ["files"]:
                return JsonReply({"id": self.store(request.files[0].content)})
            case "GET", ["files", name] if name in self.files:
                return JsonReply(self.files[name])
            case "GET", ["apps", "demo"]:
                return JsonReply({"name": "Demo"})
        return JsonReply({"message": "there is no such thing"}, 404)

    def chat(self, body: dict[str, Any]) -> ServiceReply:
        conversation = body.get("conversation") or self.new_id("c")
        if body.get("conversation") and conversation not in self.conversations:
            return JsonReply({"message": "there is no such conversation"}, 404)
        self.conversations.add(conversation)
        start = {"event": "start", "task": self.new_id("t"), "conversation": conversation}
        texts = [{"event": "text", "text": piece} for piece in self.pieces]
        return StreamReply([start, *texts, *self.extra, {"event": "end", "tokens": [7, 3]}])

    def store(self, content: bytes) -> str:
        name = self.new_id("f")
        self.files[name] = content
        return name

    def new_id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}-{self.count}"


class ToyRig(ServiceRig):
    plugin = Path(__file__).with_name("toy_service")
    code = "toy"
    answer_path, stop_path, upload_path = "/chat", "/chat/[^/]+/stop", "/files"
    service: ToyService

    def new_service(self) -> FakeService:
        return ToyService()

    def session_of(self, request: RecordedRequest) -> str | None:
        return request.json.get("conversation")

    def forget_sessions(self) -> None:
        self.service.conversations.clear()

    def offer_file(self, name: str, content: bytes) -> None:
        self.service.extra = [{"event": "file", "name": name, "url": f"/files/{self.service.store(content)}"}]
