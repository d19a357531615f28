"""A fake of a LangGraph server with DeerFlow's gateway, written from recorded streams of langgraph-api 0.16."""

import uuid
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply

ANSWER_ID = "ai-1"


class FakeDeerFlow(FakeService):
    """One assistant, `lead_agent`. `user` and `password` make it require a sign-in."""

    prefix = "/api/langgraph"

    def __init__(self) -> None:
        super().__init__()
        self.threads: dict[str, list[dict[str, Any]]] = {}
        """The history of each thread."""
        self.password = ""
        self.question = ""
        """What the next run asks with ask_clarification instead of answering."""
        self.interrupt = ""
        """What the next run asks with an interrupt."""
        self.tasks: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}

    @property
    def api_base(self) -> str:
        return f"{self.url}{self.prefix}"

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        path = request.path.removeprefix(self.prefix).strip("/").split("/")
        if request.path == "/api/v1/auth/login/local":
            return self._sign_in(request)
        if self.password and "access_token=token-1" not in request.headers.get("cookie", ""):
            return JsonReply({"detail": {"code": "not_authenticated", "message": "Not authenticated"}}, 401)
        match request.method, path:
            case "POST", ["assistants", "search"]:
                return JsonReply([{"assistant_id": str(uuid.uuid4()), "graph_id": "lead_agent", "name": "lead_agent"}])
            case "POST", ["threads"]:
                thread = str(uuid.uuid4())
                self.threads[thread] = []
                return JsonReply({"thread_id": thread, "status": "idle", "metadata": {}})
            case "POST", ["threads", thread, "runs", "stream"]:
                if thread not in self.threads:
                    return JsonReply({"detail": "Thread or assistant not found."}, 404)
                return self._run(thread, request.json)
            case "POST", ["threads", _, "runs", _, "cancel"]:
                return JsonReply(status=202)
            case "POST", ["api", "threads", _, "uploads"]:
                return JsonReply({"success": True, "files": [{"filename": file.name} for file in request.files]})
            case "GET", ["api", "threads", _, "artifacts", name]:
                return JsonReply(self.files[name])
        return JsonReply({"detail": "Not Found"}, 404)

    def _sign_in(self, request: RecordedRequest) -> JsonReply:
        if f"password={self.password}".encode() not in request.body:
            return JsonReply({"detail": {"code": "invalid_credentials"}}, 401)
        return JsonReply({"expires_in": 3600}, headers={"Set-Cookie": "access_token=token-1; HttpOnly; Path=/"})

    def _run(self, thread: str, body: dict[str, Any]) -> StreamReply:
        given = (body.get("input") or {}).get("messages") or []
        history = self.threads[thread]
        history += given
        events: list[Any] = [("metadata", {"run_id": str(uuid.uuid4()), "attempt": 1})]
        events.append(("values", {"messages": list(history)}))
        events += [("custom", task) for task in self.tasks]
        meta = {"langgraph_node": "agent", "tags": []}
        hidden = {"langgraph_node": "title_middleware", "tags": []}
        events.append(("messages", [{"type": "AIMessageChunk", "id": "t-1", "content": "A title"}, hidden]))
        if self.question:
            call = {"name": "ask_clarification", "args": {}, "id": "call-1"}
            asked = {"type": "tool", "name": "ask_clarification", "tool_call_id": "call-1", "content": self.question}
            events.append(
                ("messages", [{"type": "AIMessageChunk", "id": ANSWER_ID, "content": "", "tool_calls": [call]}, meta])
            )
            events.append(("messages", [asked, meta]))
            return StreamReply(events)
        if self.interrupt and "command" not in body:
            events.append(
                ("values", {"messages": list(history), "__interrupt__": [{"value": self.interrupt, "id": "i-1"}]})
            )
            return StreamReply(events)
        events += [
            ("messages", [{"type": "AIMessageChunk", "id": ANSWER_ID, "content": each}, meta]) for each in self.pieces
        ]
        usage = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
        answer = {"type": "ai", "id": ANSWER_ID, "content": "".join(self.pieces), "usage_metadata": usage}
        history.append(answer)
        state = {"messages": list(history), "artifacts": [f"/{name}" for name in self.files]}
        return StreamReply([*events, b": heartbeat\n\n", ("values", state)])
