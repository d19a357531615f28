"""The runner of the LiteLLM Agent Platform: its settings, sessions, prompts and interruption."""

from typing import Literal

from litellm_agent_platform_agent.modes import MODES, SessionInterface
from litellm_agent_platform_agent.reader import PlatformReader

from parlour_sdk.agents import http_agent as http


class PlatformConfig(http.HttpAgentConfig):
    first_event_timeout: http.Seconds = 120
    idle_timeout: http.Seconds = 120
    api_mode: Literal["platform", "managed-agents-v0", "agent-platform"] = "platform"
    agent_id: str
    harness: str = "claude-code"

    @property
    def app(self) -> str:
        return f"{self.api_mode} {self.harness} {self.agent_id}"

    @property
    def mode(self) -> SessionInterface:
        return MODES[self.api_mode]


class PlatformRunner(http.HttpAgentRunner[PlatformConfig]):
    service, label, config_type = "litellm-agent-platform", "LiteLLM Agent Platform", PlatformConfig

    async def build_request(self, turn: http.ServiceTurn[PlatformConfig]) -> http.ServiceRequest:
        if turn.files:
            raise http.ServiceFailure("input", "files can't be sent to this service")
        mode, session = turn.config.mode, turn.conversation_id
        turn.notes["known_events"] = set() if session is None else await mode.known_events(turn.client, session)
        if session is None:
            session = await mode.create(turn.client, turn.config.agent_id, turn.config.harness)
        turn.notes["session_id"] = session
        return mode.prompt(session, turn.text_with_token) if mode.prompts_stream else mode.stream(session)

    async def after_open(self, turn: http.ServiceTurn[PlatformConfig]) -> None:
        """Sends the prompt, since the events of its answer are seen only by a stream that is open before."""
        mode = turn.config.mode
        if mode.prompts_stream:
            return
        try:
            await turn.client.call(mode.prompt(turn.notes["session_id"], turn.text_with_token))
        except http.ServiceFailure as failure:
            if turn.conversation_id is not None and "404" in failure.detail:
                raise http.ServiceFailure("session_unknown", failure.detail) from failure
            raise

    def new_reader(self, turn: http.ServiceTurn[PlatformConfig]) -> PlatformReader:
        return PlatformReader(turn)

    async def stop(self, turn: http.ServiceTurn[PlatformConfig]) -> None:
        path = turn.config.mode.stop_path.format(session=turn.notes["session_id"])
        await turn.client.call(http.ServiceRequest(path, {}))

    async def check_service(self, config: PlatformConfig, client: http.ServiceClient) -> str:
        found = await client.call(http.ServiceRequest(config.mode.agents_path, method="GET"))
        agents = found.get("agents") or found.get("data") if isinstance(found, dict) else found
        names = {str(each.get("id")): str(each.get("name") or each.get("id")) for each in agents or []}
        if config.agent_id not in names:
            known = ", ".join(f"{key} ({name})" for key, name in names.items()) or "none"
            raise http.ServiceFailure("config", f"agent_id: there is no {config.agent_id}; there is {known}")
        return f"The platform has the agent {names[config.agent_id]}."
