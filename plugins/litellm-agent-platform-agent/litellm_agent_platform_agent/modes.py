"""The three interfaces under which agents of the platform are reached: the requests of each."""

import asyncio
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from parlour_sdk.agents import http_agent as http

TITLE = "Parlour"
FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 0.1, 3.0


class SessionInterface(ABC):
    """One interface. Where `prompts_stream` is false, the prompt is sent when the stream of the session is open."""

    agents_path: ClassVar[str]
    stop_path: ClassVar[str]
    prompts_stream: ClassVar[bool] = False

    @abstractmethod
    async def create(self, client: http.ServiceClient, agent_id: str, runtime: str) -> str:
        """Creates a session and returns its id."""

    @abstractmethod
    def prompt(self, session: str, text: str) -> http.ServiceRequest:
        """Returns the request that sends a message to the agent."""

    def stream(self, session: str) -> http.ServiceRequest:
        """Returns the request of the session's live events."""
        return http.ServiceRequest(f"/v1/sessions/{session}/events/stream", method="GET")

    async def known_events(self, client: http.ServiceClient, session: str) -> set[str]:
        """Returns the ids of the events so far, which a stream may repeat. Raises ServiceFailure without a session."""
        try:
            found = await client.call(http.ServiceRequest(f"/v1/sessions/{session}/events", method="GET"))
        except http.ServiceFailure as failure:
            if failure.reason == "not_found":
                raise http.ServiceFailure("session_unknown", failure.detail) from failure
            raise
        return {str(each.get("id")) for each in found.get("data") or [] if each.get("id")}


class ControlPlane(SessionInterface):
    """The control plane of 2026, which runs agents in the runtimes of several vendors."""

    agents_path, stop_path = "/api/agents", "/session/{session}/interrupt"

    async def create(self, client: http.ServiceClient, agent_id: str, runtime: str) -> str:
        body = {"runtime": runtime, "agent_id": agent_id, "title": TITLE}
        return str((await client.call(http.ServiceRequest("/session", body)))["id"])

    def prompt(self, session: str, text: str) -> http.ServiceRequest:
        body: dict[str, Any] = {"model": {"modelID": ""}, "parts": [{"type": "text", "text": text}]}
        return http.ServiceRequest(f"/session/{session}/prompt_async", body)


class ManagedAgents(SessionInterface):
    """A harness server with the interface of managed agents, which the control plane connects as a runtime."""

    agents_path, stop_path = "/v1/agents", "/v1/sessions/{session}/abort"

    async def create(self, client: http.ServiceClient, agent_id: str, runtime: str) -> str:
        return str((await client.call(http.ServiceRequest("/v1/sessions", {"agent": agent_id, "title": TITLE})))["id"])

    def prompt(self, session: str, text: str) -> http.ServiceRequest:
        event = {"type": "user.message", "content": [{"type": "text", "text": text}]}
        return http.ServiceRequest(f"/v1/sessions/{session}/events", {"events": [event]})


class FirstPlatform(SessionInterface):
    """The first version of the platform, which starts a container for each session."""

    base = "/api/v1/managed_agents"
    agents_path, stop_path = f"{base}/agents", f"{base}/sessions/{{session}}/abort"
    prompts_stream = True

    async def create(self, client: http.ServiceClient, agent_id: str, runtime: str) -> str:
        """Creates a session and waits until its container is ready; the run's deadline limits the wait."""
        made = await client.call(http.ServiceRequest(f"{self.agents_path}/{agent_id}/session", {"title": TITLE}))
        session, pause = str(made["id"]), FIRST_POLL_SECONDS
        while made.get("status") != "ready":
            if made.get("status") not in ("creating", None):
                raise http.ServiceFailure("upstream", str(made.get("failure_reason") or f"it is {made['status']}"))
            await asyncio.sleep(min(pause, max(0.0, client.seconds_left())))
            pause = min(pause * 2, MAX_POLL_SECONDS)
            made = await client.call(http.ServiceRequest(f"{self.base}/sessions/{session}", method="GET"))
        return session

    def prompt(self, session: str, text: str) -> http.ServiceRequest:
        return http.ServiceRequest(f"{self.base}/sessions/{session}/message_stream", {"text": text})

    async def known_events(self, client: http.ServiceClient, session: str) -> set[str]:
        return set()  # its stream begins with the message


MODES = {"platform": ControlPlane(), "managed-agents-v0": ManagedAgents(), "agent-platform": FirstPlatform()}
"""The interfaces by the value of `api_mode`."""
