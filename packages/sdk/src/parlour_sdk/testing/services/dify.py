"""A fake of Dify's service API, written from its documentation: chat, agent, chatflow and workflow apps."""

import uuid
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply

MODES = {"chat": "chat", "agent": "agent-chat", "chatflow": "advanced-chat", "workflow": "workflow"}


class FakeDify(FakeService):
    """One app of Dify; `app_type` is its kind. `asks` makes a workflow wait for a person before it goes on."""

    key = "app-key"

    def __init__(self, app_type: str = "chat") -> None:
        super().__init__()
        self.app_type = app_type
        self.asks = False
        self.thoughts: list[dict[str, Any]] = []
        """Further events before the text, such as `agent_thought`."""
        self.sources: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        """Files of the next answers, by name."""
        self.required_inputs: list[str] = []
        self.next_questions = ["And then?"]
        self.conversations: dict[str, str] = {}
        """The user of each conversation."""
        self.forms: dict[str, dict[str, Any]] = {}
        """What was submitted, by the token of the form."""

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.removeprefix("/v1").strip("/").split("/"):
            case "POST", ["chat-messages"]:
                return self._chat(request)
            case "POST", ["workflows", "run"]:
                return self._workflow(request)
            case "POST", ["chat-messages", _, "stop"] | ["workflows", "tasks", _, "stop"]:
                return JsonReply({"result": "success"})
            case "POST", ["files", "upload"]:
                return self._upload(request)
            case "GET", ["files", name]:
                return JsonReply(self.files[name]) if name in self.files else _error(404, "not_found", "no file")
            case "GET", ["info"]:
                return JsonReply({"name": "Helper", "description": "", "tags": [], "mode": MODES[self.app_type]})
            case "GET", ["parameters"]:
                form = [
                    {"text-input": {"label": name, "variable": name, "required": True}} for name in self.required_inputs
                ]
                return JsonReply({"opening_statement": "", "user_input_form": form, "file_upload": {"enabled": True}})
            case "GET", ["messages", _, "suggested"]:
                return JsonReply({"result": "success", "data": self.next_questions})
            case "POST", ["form", "human_input", token]:
                self.forms[token] = request.json
                return JsonReply({})
            case "GET", ["workflow", run, "events"]:
                return StreamReply(self._rest_of_workflow("t-2", run))
        return _error(404, "not_found", "The requested URL was not found on the server.")

    def _chat(self, request: RecordedRequest) -> ServiceReply:
        if self.app_type == "workflow":
            return _error(400, "not_chat_app", "Please check if your app mode matches the right API route.")
        body = request.json
        conversation, user = body.get("conversation_id"), body["user"]
        if conversation is not None and self.conversations.get(conversation) != user:
            return _error(404, "not_found", "Conversation Not Exists.")
        conversation = conversation or str(uuid.uuid4())
        self.conversations[conversation] = user
        number = len(self.requests)
        ids = {"task_id": f"t-{number}", "message_id": f"m-{number}", "conversation_id": conversation}
        events = self._chatflow(ids) if self.app_type == "chatflow" else self._answer(ids)
        return StreamReply([b"event: ping\n\n", *events])

    def _answer(self, ids: dict[str, Any]) -> list[dict[str, Any]]:
        kind = "agent_message" if self.app_type == "agent" else "message"
        return [
            *({**ids, **thought} for thought in self.thoughts),
            *({"event": kind, **ids, "created_at": 1794970000, "answer": piece} for piece in self.pieces),
            *(
                {"event": "message_file", **ids, "id": f"f-{name}", "type": "image", "belongs_to": "assistant"}
                | {"url": f"/v1/files/{name}"}
                for name in self.files
            ),
            self._message_end(ids),
        ]

    def _message_end(self, ids: dict[str, Any]) -> dict[str, Any]:
        usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15, "total_price": "0.1"}
        return {"event": "message_end", **ids, "metadata": {"usage": usage, "retriever_resources": self.sources}}

    def _chatflow(self, ids: dict[str, Any]) -> list[dict[str, Any]]:
        run = {"task_id": ids["task_id"], "workflow_run_id": "run-1"}
        finished = {"id": "run-1", "status": "succeeded", "outputs": {"answer": "".join(self.pieces)}}
        return [
            {"event": "workflow_started", **run, "data": {"id": "run-1", "workflow_id": "w-1", "inputs": {}}},
            *self._answer(ids),
            {"event": "workflow_finished", **run, "data": {**finished, "total_tokens": 15}},
        ]

    def _workflow(self, request: RecordedRequest) -> ServiceReply:
        if self.app_type != "workflow":
            return _error(400, "not_workflow_app", "Please check if your app mode matches the right API route.")
        run = {"task_id": "t-1", "workflow_run_id": "run-1"}
        started = {"event": "workflow_started", **run, "data": {"id": "run-1", "workflow_id": "w-1"}}
        if not self.asks:
            return StreamReply([started, *self._rest_of_workflow("t-1", "run-1")])
        form = {
            "form_id": "form-1",
            "form_token": "token-1",
            "node_title": "Review",
            "form_content": "Is this right?\n{{#$output.comment#}}",
            "inputs": [{"type": "paragraph", "output_variable_name": "comment"}],
            "actions": [{"id": "yes", "title": "Approve"}, {"id": "no", "title": "Reject"}],
            "expiration_time": 1794973600,
        }
        asked = {"event": "human_input_required", **run, "data": form}
        return StreamReply([started, asked, {"event": "workflow_paused", **run, "data": {"paused_nodes": ["n-1"]}}])

    def _rest_of_workflow(self, task: str, run_id: str) -> list[dict[str, Any]]:
        run = {"task_id": task, "workflow_run_id": run_id}
        node = {"id": "n-1", "node_id": "llm", "node_type": "tool", "title": "Search", "index": 1}
        chunks = [{"event": "text_chunk", **run, "data": {"text": piece}} for piece in self.pieces]
        finished = {"id": run_id, "status": "succeeded", "outputs": {"text": "".join(self.pieces)}, "total_tokens": 15}
        return [
            {"event": "node_started", **run, "data": node},
            {"event": "node_finished", **run, "data": {**node, "status": "succeeded", "outputs": {"found": 1}}},
            *chunks,
            {"event": "workflow_finished", **run, "data": finished},
        ]

    def _upload(self, request: RecordedRequest) -> ServiceReply:
        if not request.fields.get("user") or len(request.files) != 1:
            return _error(400, "no_file_uploaded", "Please upload your file.")
        file = request.files[0]
        names = {"id": f"u-{len(self.requests)}", "name": file.name, "extension": file.name.rpartition(".")[2]}
        return JsonReply({**names, "size": len(file.content), "mime_type": file.mime_type}, 201)


def _error(status: int, code: str, message: str) -> JsonReply:
    return JsonReply({"code": code, "message": message, "status": status}, status)
