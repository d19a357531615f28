"""The runner of WeKnora: its settings, sessions, requests and checks."""

import base64
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from weknora_agent.reader import WeKnoraReader

from parlour_sdk.agents import http_agent as http


class WeKnoraConfig(http.HttpAgentConfig):
    base_url: Annotated[http.ServiceAddress, AfterValidator(http.default_path("/api/v1"))]
    first_event_timeout: http.Seconds = 120
    idle_timeout: http.Seconds = 120
    app_type: Literal["agent", "knowledge"] = "agent"
    agent_id: str = "builtin-smart-reasoning"
    knowledge_base_ids: list[str] = Field(default_factory=list)
    web_search_enabled: bool = False
    base_prompt: str = ""

    @property
    def app(self) -> str:
        return f"{self.app_type} {self.agent_id}"


class WeKnoraRunner(http.HttpAgentRunner[WeKnoraConfig]):
    service, label, config_type = "weknora", "WeKnora", WeKnoraConfig
    uploads_files = True

    def headers(self, config: WeKnoraConfig) -> dict[str, str]:
        return {"X-API-Key": config.api_key.get_secret_value()}

    async def build_request(self, turn: http.ServiceTurn[WeKnoraConfig]) -> http.ServiceRequest:
        config = turn.config
        session = turn.notes["session_id"] = turn.conversation_id or await self._new_session(turn)
        body: dict[str, Any] = {
            "query": turn.text.strip() or config.base_prompt,
            "agent_enabled": config.app_type == "agent",
            "agent_id": config.agent_id,
            "knowledge_base_ids": config.knowledge_base_ids,
            "web_search_enabled": config.web_search_enabled,
            "disable_title": True,
            "channel": "im",
        }
        for field, file in turn.uploads:
            body.setdefault(field, []).append(file)
        path = f"/{config.app_type}-chat/{session}"
        return http.ServiceRequest(path, body, query={"resource_urls": "public"})

    async def _new_session(self, turn: http.ServiceTurn[WeKnoraConfig]) -> str:
        answer = await turn.client.call(http.ServiceRequest("/sessions", {"title": "Parlour", "description": ""}))
        return str(answer["data"]["id"])

    def new_reader(self, turn: http.ServiceTurn[WeKnoraConfig]) -> WeKnoraReader:
        return WeKnoraReader(turn)

    async def upload_file(self, turn: http.ServiceTurn[WeKnoraConfig], file: http.InputFile) -> tuple[str, Any]:
        """Returns the field of the request that takes the file, and the file."""
        content = await file.read(turn.api, turn.client)
        data = base64.b64encode(content).decode()
        if file.kind == "image":
            return "images", {"data": f"data:{file.mime_type or 'image/png'};base64,{data}"}
        return "attachment_uploads", {"data": data, "file_name": file.name, "file_size": len(content)}

    async def stop(self, turn: http.ServiceTurn[WeKnoraConfig]) -> None:
        if turn.task_id:
            path = f"/sessions/{turn.notes['session_id']}/stop"
            await turn.client.call(http.ServiceRequest(path, {"message_id": turn.task_id}))

    async def check_service(self, config: WeKnoraConfig, client: http.ServiceClient) -> str:
        answer = await client.call(http.ServiceRequest("/knowledge-bases", method="GET"))
        bases = {str(each.get("id")): str(each.get("name")) for each in answer.get("data") or []}
        unknown = [name for name in config.knowledge_base_ids if name not in bases]
        if unknown:
            known = ", ".join(f"{key} ({name})" for key, name in bases.items()) or "none"
            raise http.ServiceFailure(
                "config", f"knowledge_base_ids: {', '.join(unknown)} is not there; there is {known}"
            )
        return f"WeKnora answers; it has {len(bases)} knowledge bases."
