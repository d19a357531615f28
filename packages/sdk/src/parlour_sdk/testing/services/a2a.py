"""A fake of an A2A agent, written from the specifications 1.0 and 0.3. The client of a2a-sdk reads it."""

import base64
from typing import Any, Literal

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class FakeA2a(FakeService):
    """An agent with a card; `rest` offers the HTTP+JSON binding instead of JSON-RPC."""

    path = "/a2a"

    def __init__(self, version: Literal["1.0", "0.3"] = "1.0", rest: bool = False, streams: bool = True) -> None:
        super().__init__()
        self.version = version
        self.rest = rest
        self.streams = streams
        self.tasks: dict[str, str] = {}
        """The context of each task."""
        self.question = ""
        """What the next task asks before it goes on."""
        self.files: dict[str, bytes] = {}
        self.scheme: dict[str, Any] | None = None
        """A security scheme that the card requires."""
        self.card_url = ""
        """The address in the card, if it is another one."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        if request.path == "/.well-known/agent-card.json":
            return JsonReply(self.card())
        if request.path.startswith(f"{self.path}/tasks/"):
            return JsonReply({"id": request.path.split("/")[-1], "status": {"state": "TASK_STATE_CANCELED"}})
        if request.path == f"{self.path}/message:stream":
            return StreamReply(self._answer(request.json))
        if request.path != self.path:
            return JsonReply({"detail": "Not Found"}, 404)
        body = request.json
        is_new = request.headers.get("a2a-version") == "1.0"
        if is_new != (self.version == "1.0"):
            return _error(body["id"], -32009, "the version is not supported")
        match body["method"]:
            case "SendStreamingMessage" | "message/stream":
                answered = [
                    {"jsonrpc": "2.0", "id": body["id"], "result": each} for each in self._answer(body["params"])
                ]
                return StreamReply(answered)
            case "SendMessage" | "message/send":
                return JsonReply({"jsonrpc": "2.0", "id": body["id"], "result": self._whole(body["params"])})
            case "CancelTask" | "tasks/cancel":
                task = {"id": body["params"]["id"], "contextId": "c", "status": {"state": self._state("CANCELED")}}
                return JsonReply({"jsonrpc": "2.0", "id": body["id"], "result": task})
        return _error(body["id"], -32601, "Method not found")

    def card(self) -> dict[str, Any]:
        """Returns the agent's card."""
        url = self.card_url or f"{self.url}{self.path}"
        card: dict[str, Any] = {
            "name": "Helper",
            "description": "Helps.",
            "version": "1.0.0",
            "capabilities": {"streaming": self.streams},
            "defaultInputModes": ["text/plain"],
            "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "help", "name": "Help", "description": "Helps.", "tags": ["help"]}],
        }
        if self.version == "1.0":
            binding = "HTTP+JSON" if self.rest else "JSONRPC"
            card["supportedInterfaces"] = [{"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}]
        else:
            card |= {"url": url, "preferredTransport": "JSONRPC", "protocolVersion": "0.3.0"}
        if self.scheme is not None:
            card |= {"securitySchemes": {"key": self.scheme}, "securityRequirements": [{"schemes": {"key": {}}}]}
        return card

    def received_files(self) -> list[bytes]:
        """Returns the files of all messages."""
        bodies = [request.json for request in self.requests if request.body]
        messages = [(body.get("params") or body).get("message") or {} for body in bodies]
        parts = [part for message in messages for part in message.get("parts", [])]
        contents = [part.get("raw") or (part.get("file") or {}).get("bytes") for part in parts]
        return [base64.b64decode(content) for content in contents if content]

    def _answer(self, params: dict[str, Any]) -> list[dict[str, Any]]:
        message = params["message"]
        task = message.get("taskId") or f"t-{len(self.requests)}"
        context = message.get("contextId") or f"c-{len(self.requests)}"
        self.tasks[task] = context
        ids = {"taskId": task, "contextId": context}
        started = {"id": task, "contextId": context, "status": {"state": self._state("SUBMITTED")}}
        events = [self._result("task", started), self._status(ids, "WORKING")]
        if self.question and "taskId" not in message:
            return [*events, self._status(ids, "INPUT_REQUIRED", self.question, is_final=True)]
        for number, piece in enumerate(self.pieces):
            artifact = {"artifactId": "a-1", "parts": [self._text(piece)]}
            events.append(self._result("artifactUpdate", {**ids, "artifact": artifact, "append": number > 0}))
        for name, content in self.files.items():
            file = {"artifactId": "a-1", "parts": [self._file(name, content)]}
            events.append(self._result("artifactUpdate", {**ids, "artifact": file, "append": True}))
        return [*events, self._status(ids, "COMPLETED", is_final=True)]

    def _whole(self, params: dict[str, Any]) -> dict[str, Any]:
        text = self._text("".join(self.pieces))
        task = {"id": "t-1", "contextId": params["message"].get("contextId") or "c-1"}
        artifacts = [{"artifactId": "a-1", "parts": [text]}]
        return self._result("task", {**task, "status": {"state": self._state("COMPLETED")}, "artifacts": artifacts})

    def _status(self, ids: dict[str, str], state: str, text: str = "", is_final: bool = False) -> dict[str, Any]:
        status: dict[str, Any] = {"state": self._state(state)}
        if text:
            role = "ROLE_AGENT" if self.version == "1.0" else "agent"
            kind = {} if self.version == "1.0" else {"kind": "message"}
            status["message"] = {"messageId": "m-1", "role": role, "parts": [self._text(text)], **kind}
        final = {} if self.version == "1.0" else {"final": is_final}
        return self._result("statusUpdate", {**ids, "status": status, **final})

    def _result(self, name: str, body: dict[str, Any]) -> dict[str, Any]:
        if self.version == "1.0":
            return {name: body}
        kinds = {"statusUpdate": "status-update", "artifactUpdate": "artifact-update"}
        return {"kind": kinds.get(name, name), **body}

    def _state(self, state: str) -> str:
        return f"TASK_STATE_{state}" if self.version == "1.0" else state.lower().replace("_", "-")

    def _text(self, text: str) -> dict[str, Any]:
        return {"text": text} if self.version == "1.0" else {"kind": "text", "text": text}

    def _file(self, name: str, content: bytes) -> dict[str, Any]:
        raw = base64.b64encode(content).decode()
        if self.version == "1.0":
            return {"raw": raw, "mediaType": "image/png", "filename": name}
        return {"kind": "file", "file": {"bytes": raw, "mimeType": "image/png", "name": name}}


def _error(call_id: Any, code: int, message: str) -> JsonReply:
    return JsonReply({"jsonrpc": "2.0", "id": call_id, "error": {"code": code, "message": message}})
