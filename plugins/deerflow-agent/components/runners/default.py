"""The runner of DeerFlow and other LangGraph servers: settings, sign-in, threads, requests and files."""

import uuid
from typing import Any, Literal
from urllib.parse import urlsplit

from deerflow_agent.reader import DeerFlowReader
from pydantic import Field, SecretStr

from parlour_sdk.agents import http_agent as http

LOGIN_PATH = "/api/v1/auth/login/local"


class DeerFlowConfig(http.HttpAgentConfig):
    base_url: http.ServiceAddress = Field(default="http://127.0.0.1:2026/api/langgraph", alias="api_base")
    first_event_timeout: http.Seconds = 120
    idle_timeout: http.Seconds = 120
    auth: Literal["none", "bearer", "header", "login"] = "none"
    auth_header: str = "X-API-Key"
    username: str = ""
    password: SecretStr = SecretStr("")
    assistant_id: str = "lead_agent"
    model_name: str = ""
    thinking_enabled: bool = True
    plan_mode: bool = False
    subagent_enabled: bool = False
    max_concurrent_subagents: int = 3
    recursion_limit: int = 1000

    @property
    def app(self) -> str:
        return self.assistant_id

    @property
    def origin(self) -> str:
        """The address of DeerFlow itself, whose LangGraph interface is below a path."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    def context(self, thread_id: str) -> dict[str, Any]:
        """Returns DeerFlow's switches, which a plain LangGraph server ignores."""
        model = {"model_name": self.model_name} if self.model_name else {}
        return {
            **model,
            "thinking_enabled": self.thinking_enabled,
            "is_plan_mode": self.plan_mode,
            "subagent_enabled": self.subagent_enabled,
            "max_concurrent_subagents": self.max_concurrent_subagents,
            "thread_id": thread_id,
        }


class DeerFlowRunner(http.HttpAgentRunner[DeerFlowConfig]):
    service, label, config_type = "deerflow", "DeerFlow", DeerFlowConfig
    uploads_files = True

    def headers(self, config: DeerFlowConfig) -> dict[str, str]:
        return http.authorization(config.auth, config.api_key.get_secret_value(), config.auth_header)

    async def build_request(self, turn: http.ServiceTurn[DeerFlowConfig]) -> http.ServiceRequest:
        config, thread_id = turn.config, await self._thread(turn)
        human_id = turn.notes["human_id"] = str(uuid.uuid4())
        pictures = [each for each in turn.uploads if each]
        parts = [{"type": "text", "text": turn.text}, *pictures]
        message = {"role": "human", "id": human_id, "content": parts if pictures else turn.text}
        body: dict[str, Any] = {
            "assistant_id": config.assistant_id,
            "input": {"messages": [message]},
            "stream_mode": ["values", "messages-tuple", "custom"],
            "config": {"recursion_limit": config.recursion_limit},
            "context": config.context(thread_id),
            "on_disconnect": "cancel",
            "multitask_strategy": "reject",
        }
        if turn.pending.get("interrupt"):
            body["command"] = {"resume": turn.text}
            del body["input"]
        return http.ServiceRequest(f"/threads/{thread_id}/runs/stream", body, headers=turn.notes["session"])

    def new_reader(self, turn: http.ServiceTurn[DeerFlowConfig]) -> DeerFlowReader:
        return DeerFlowReader(turn.notes["thread_id"], turn.notes["human_id"])

    async def upload_file(self, turn: http.ServiceTurn[DeerFlowConfig], file: http.InputFile) -> dict[str, Any] | None:
        """Returns a picture as a part of the message; DeerFlow finds other files in the thread that they belong to."""
        if file.kind == "image":
            return {"type": "image_url", "image_url": {"url": await file.read_data_url(turn.api, turn.client)}}
        content = await file.read(turn.api, turn.client)
        path = f"{turn.config.origin}/api/threads/{await self._thread(turn)}/uploads"
        form = http.FormFile("files", file.name, content, file.mime_type)
        await turn.client.call(http.ServiceRequest(path, files=(form,), headers=turn.notes["session"]))
        return None

    async def stop(self, turn: http.ServiceTurn[DeerFlowConfig]) -> None:
        if turn.task_id:
            path = f"/threads/{turn.notes['thread_id']}/runs/{turn.task_id}/cancel"
            query = {"wait": "false", "action": "interrupt"}
            await turn.client.call(http.ServiceRequest(path, query=query, headers=turn.notes["session"]))

    def explain_error(
        self, turn: http.ServiceTurn[DeerFlowConfig], status: int, body: bytes
    ) -> http.ServiceFailure | None:
        if status == 409:
            return http.ServiceFailure("rate_limited", "the thread is still busy with another message")
        if status == 422:
            return http.ServiceFailure(
                "config", f"assistant_id or a setting is refused: {body.decode(errors='replace')}"
            )
        return super().explain_error(turn, status, body)

    async def check_service(self, config: DeerFlowConfig, client: http.ServiceClient) -> str:
        session = await _sign_in(config, client)
        body = {"graph_id": None, "limit": 100, "offset": 0}
        found = await client.call(http.ServiceRequest("/assistants/search", body, headers=session))
        names = {str(each.get(name)) for each in found or [] for name in ("assistant_id", "graph_id", "name")}
        if names and config.assistant_id not in names:
            known = ", ".join(sorted({str(each.get("graph_id")) for each in found}))
            raise http.ServiceFailure(
                "config", f"assistant_id: there is no {config.assistant_id}, choose one of {known}"
            )
        return f"DeerFlow answers with the assistant {config.assistant_id}."

    async def _thread(self, turn: http.ServiceTurn[DeerFlowConfig]) -> str:
        """Returns the thread of the conversation; a new one is made at the server."""
        if "session" not in turn.notes:
            turn.notes["session"] = await _sign_in(turn.config, turn.client)
        if turn.conversation_id is not None:
            turn.notes["thread_id"] = turn.conversation_id
        elif "thread_id" not in turn.notes:
            request = http.ServiceRequest("/threads", {"metadata": {}}, headers=turn.notes["session"])
            turn.notes["thread_id"] = str((await turn.client.call(request))["thread_id"])
        return str(turn.notes["thread_id"])


async def _sign_in(config: DeerFlowConfig, client: http.ServiceClient) -> dict[str, str]:
    """Signs in with user name and password, if they are configured. Returns the headers of the session."""
    if config.auth != "login":
        return {}
    fields = {"username": config.username, "password": config.password.get_secret_value()}
    request = http.ServiceRequest(f"{config.origin}{LOGIN_PATH}", fields=fields)
    async with client.open(request, config.first_event_timeout) as response:
        if response.status >= 300:
            raise http.ServiceFailure("auth", f"HTTP {response.status}: the user name or password is refused")
        cookies = response.cookies
    token = {"X-CSRF-Token": cookies["csrf_token"]} if "csrf_token" in cookies else {}
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()), **token}
