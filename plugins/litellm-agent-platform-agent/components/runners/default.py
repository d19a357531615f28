"""The runner of the LiteLLM Agent Platform: its settings, sessions, prompts and interruption."""

from typing import Any

from litellm_agent_platform_agent.reader import PlatformReader

from parlour_sdk.agents import http_agent as http


class PlatformConfig(http.HttpAgentConfig):
    first_event_timeout: http.Seconds = 120
    idle_timeout: http.Seconds = 120
    agent_id: str
    harness: str = "claude-code"

    @property
    def app(self) -> str:
        return f"{self.harness} {self.agent_id}"


class PlatformRunner(http.HttpAgentRunner[PlatformConfig]):
    service, label, config_type = "litellm-agent-platform", "LiteLLM Agent Platform", PlatformConfig

    async def build_request(self, turn: http.ServiceTurn[PlatformConfig]) -> http.ServiceRequest:
        """Returns the request of the session's events; the prompt follows when its stream is open."""
        if turn.files:
            raise http.ServiceFailure("input", "files can't be sent to this service")
        turn.notes["known_events"] = set()
        if turn.conversation_id is None:
            body = {"runtime": turn.config.harness, "agent_id": turn.config.agent_id, "title": "Parlour"}
            session = str((await turn.client.call(http.ServiceRequest("/session", body)))["id"])
        else:
            session = turn.conversation_id
            known = await _events(turn.client, session)
            turn.notes["known_events"] = {str(each.get("id")) for each in known}
        turn.notes["session_id"] = session
        return http.ServiceRequest(f"/v1/sessions/{session}/events/stream", method="GET")

    async def after_open(self, turn: http.ServiceTurn[PlatformConfig]) -> None:
        body: dict[str, Any] = {"model": {"modelID": ""}, "parts": [{"type": "text", "text": turn.text}]}
        path = f"/session/{turn.notes['session_id']}/prompt_async"
        await turn.client.call(http.ServiceRequest(path, body))

    def new_reader(self, turn: http.ServiceTurn[PlatformConfig]) -> PlatformReader:
        return PlatformReader(turn)

    async def stop(self, turn: http.ServiceTurn[PlatformConfig]) -> None:
        await turn.client.call(http.ServiceRequest(f"/session/{turn.notes['session_id']}/interrupt", {}))

    async def check_service(self, config: PlatformConfig, client: http.ServiceClient) -> str:
        found = await client.call(http.ServiceRequest("/v1/agents", method="GET"))
        agents = found.get("data") if isinstance(found, dict) else found
        names = {str(each.get("id")): str(each.get("name") or each.get("id")) for each in agents or []}
        if config.agent_id not in names:
            known = ", ".join(f"{key} ({name})" for key, name in names.items()) or "none"
            raise http.ServiceFailure("config", f"agent_id: there is no {config.agent_id}; there is {known}")
        return f"The platform has the agent {names[config.agent_id]}."


async def _events(client: http.ServiceClient, session: str) -> list[dict[str, Any]]:
    """Returns the events that the session has so far. Raises ServiceFailure if there is no such session."""
    try:
        found = await client.call(http.ServiceRequest(f"/v1/sessions/{session}/events", method="GET"))
    except http.ServiceFailure as failure:
        if failure.reason == "not_found":
            raise http.ServiceFailure("session_unknown", failure.detail) from failure
        raise
    return list(found.get("data") or [])
