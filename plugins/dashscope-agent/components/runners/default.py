"""The runner of DashScope applications: its settings, requests and checks."""

import json
from typing import Any, Literal

from dashscope_agent.reader import DashScopeReader, failure
from pydantic import Field

from parlour_sdk.agents import http_agent as http


class DashScopeConfig(http.HttpAgentConfig):
    app_id: str
    app_type: Literal["agent", "workflow"] = "agent"
    workspace: str = ""
    references_quote: str = ""
    biz_params: dict[str, Any] = Field(default_factory=dict)

    @property
    def app(self) -> str:
        return self.app_id

    @property
    def path(self) -> str:
        return f"/apps/{self.app_id}/completion"


class DashScopeRunner(http.HttpAgentRunner[DashScopeConfig]):
    service, label, config_type = "dashscope", "DashScope", DashScopeConfig

    def headers(self, config: DashScopeConfig) -> dict[str, str]:
        workspace = {"X-DashScope-WorkSpace": config.workspace} if config.workspace else {}
        return {**super().headers(config), "X-DashScope-SSE": "enable", "Accept": "text/event-stream", **workspace}

    async def build_request(self, turn: http.ServiceTurn[DashScopeConfig]) -> http.ServiceRequest:
        config = turn.config
        given: dict[str, Any] = {"prompt": turn.text, **_file_lists(turn)}
        if turn.conversation_id is not None:
            given["session_id"] = turn.conversation_id
        if config.biz_params:
            given["biz_params"] = config.biz_params
        parameters: dict[str, Any] = {"incremental_output": True, "has_thoughts": True}
        if config.app_type == "workflow":
            parameters["flow_stream_mode"] = "message_format"
        return http.ServiceRequest(config.path, {"input": given, "parameters": parameters, "debug": {}})

    def new_reader(self, turn: http.ServiceTurn[DashScopeConfig]) -> DashScopeReader:
        return DashScopeReader(turn.config.references_quote)

    def explain_error(
        self, turn: http.ServiceTurn[DashScopeConfig], status: int, body: bytes
    ) -> http.ServiceFailure | None:
        data = _error(body)
        return failure(status, data) if data.get("code") and status != 429 else None

    async def check_service(self, config: DashScopeConfig, client: http.ServiceClient) -> str:
        """Sends a request without a prompt: DashScope checks key and application, and refuses it before any work."""
        request = http.ServiceRequest(config.path, {"input": {}, "parameters": {}, "debug": {}})
        async with client.open(request, config.first_event_timeout) as response:
            if response.status not in (200, 400):
                body = await response.read(http.MAX_ERROR_BYTES)
                raise failure(response.status, _error(body) or {"message": f"HTTP {response.status}"})
        return "DashScope accepts the key for this application."


def _file_lists(turn: http.ServiceTurn[DashScopeConfig]) -> dict[str, list[str]]:
    """Returns the addresses of the files. DashScope takes no contents."""
    lists: dict[str, list[str]] = {}
    for file in turn.files:
        if file.url is None:
            raise http.ServiceFailure("input", f"{file.name}: only files with a public address can be sent")
        lists.setdefault("image_list" if file.kind == "image" else "file_list", []).append(file.url)
    return lists


def _error(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}
