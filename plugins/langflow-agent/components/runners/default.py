"""The runner of Langflow flows: its settings, requests, pictures and checks."""

import json
from collections.abc import Iterable
from typing import Any, Literal

from langflow_agent.reader import LangflowReader, failure
from pydantic import Field

from parlour_sdk.agents import http_agent as http


class LangflowConfig(http.HttpAgentConfig):
    first_event_timeout: http.Seconds = 120
    flow_id: str
    input_type: Literal["chat", "text"] = "chat"
    output_type: Literal["chat", "text", "any", "debug"] = "chat"
    output_component: str = ""
    chat_input: str = ""
    tweaks: dict[str, Any] = Field(default_factory=dict)

    @property
    def app(self) -> str:
        return self.flow_id


class LangflowRunner(http.HttpAgentRunner[LangflowConfig]):
    service, label, config_type = "langflow", "Langflow", LangflowConfig
    uploads_files = names_sessions = True

    def headers(self, config: LangflowConfig) -> dict[str, str]:
        key = config.api_key.get_secret_value()
        return {"x-api-key": key} if key else {}

    async def build_request(self, turn: http.ServiceTurn[LangflowConfig]) -> http.ServiceRequest:
        config, tweaks = turn.config, dict(turn.config.tweaks)
        if turn.uploads:
            tweaks[config.chat_input] = {**tweaks.get(config.chat_input, {}), "files": turn.uploads}
        body = {
            "input_value": turn.text,
            "input_type": config.input_type,
            "output_type": config.output_type,
            "output_component": config.output_component,
            "session_id": turn.own_session_id,
            "tweaks": tweaks,
        }
        return http.ServiceRequest(f"/api/v1/run/{config.flow_id}", body, query={"stream": "true"})

    def new_splitter(self, turn: http.ServiceTurn[LangflowConfig]) -> http.JsonTextSplitter:
        """Returns a splitter of JSON texts: Langflow declares server-sent events and sends them without `data:`."""
        return http.JsonTextSplitter()

    def new_reader(self, turn: http.ServiceTurn[LangflowConfig]) -> LangflowReader:
        return LangflowReader()

    def is_stream(self, content_type: str) -> bool:
        """Returns whether it can be read as JSON texts; an answer in one piece is one."""
        return content_type in ("text/event-stream", "application/json", "application/x-ndjson")

    async def upload_file(self, turn: http.ServiceTurn[LangflowConfig], file: http.InputFile) -> str:
        if not turn.config.chat_input:
            raise http.ServiceFailure("input", "chat_input: name the Chat Input component that takes files")
        form = http.FormFile("file", file.name, await file.read(turn.api, turn.client), file.mime_type)
        request = http.ServiceRequest(f"/api/v1/files/upload/{turn.config.flow_id}", files=(form,))
        answer = await turn.client.call(request)
        return str(answer["file_path"])

    def explain_error(
        self, turn: http.ServiceTurn[LangflowConfig], status: int, body: bytes
    ) -> http.ServiceFailure | None:
        if status != 500:
            return None
        try:
            detail = json.loads(body).get("detail")
        except (ValueError, AttributeError):
            return None
        return failure(detail) if detail else None

    def read_answer(self, turn: http.ServiceTurn[LangflowConfig], body: bytes) -> Iterable[http.Update]:
        raise http.ServiceFailure("protocol", "the answer is neither a stream nor JSON; check the address")

    async def check_service(self, config: LangflowConfig, client: http.ServiceClient) -> str:
        flow = await client.call(http.ServiceRequest(f"/api/v1/flows/{config.flow_id}", method="GET"))
        name = flow.get("name") if isinstance(flow, dict) else None
        return f"Langflow answers with the flow {name or config.flow_id}."
