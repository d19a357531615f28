"""A fake of the session API of the LiteLLM Agent Platform, written from its sources of June 2026."""

import asyncio
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


class FakeAgentPlatform(FakeService):
    """One agent, `agent-1`. `parts` sends the events of the second family, as an opencode harness does."""

    def __init__(self, parts: bool = False) -> None:
        super().__init__()
        self.parts = parts
        self.sessions: dict[str, list[dict[str, Any]]] = {}
        """The events of each session."""
        self.prompts: list[str] = []
        self._prompted: dict[str, asyncio.Event] = {}

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["session"]:
                session = f"s-{len(self.requests)}"
                self.sessions[session] = []
                return JsonReply({"id": session})
            case "POST", ["session", session, "prompt_async"]:
                self.prompts.append(request.json["parts"][0]["text"])
                self._prompted[session].set()
                return JsonReply(status=204)
            case "POST", ["session", _, "interrupt" | "abort"]:
                return JsonReply({})
            case "GET", ["v1", "sessions", session, "events"]:
                if session not in self.sessions:
                    return JsonReply({"error": {"message": "session not found"}}, 404)
                return JsonReply({"data": self.sessions[session]})
            case "GET", ["v1", "sessions", session, "events", "stream"]:
                return self._stream_events(session)
            case "GET", ["v1", "agents"]:
                return JsonReply({"data": [{"id": "agent-1", "name": "Helper"}]})
        return JsonReply({"error": {"message": "not found"}}, 404)

    def _stream_events(self, session: str) -> StreamReply:
        """Repeats the events of earlier messages, waits for a prompt, and adds the events of its answer."""
        prompted = self._prompted[session] = asyncio.Event()
        before = list(self.sessions[session])
        number = len(before)
        kinds = [{"type": "session.status_running"}, *self._texts(), {"type": "session.status_idle"}]
        new = [{"id": f"e-{number + index}", **each} for index, each in enumerate(kinds)]
        self.sessions[session] = [*before, *new]
        return StreamReply([*before, prompted, *new])

    def _texts(self) -> list[dict[str, Any]]:
        if not self.parts:
            return [{"type": "agent.message", "content": [{"type": "text", "text": piece}]} for piece in self.pieces]
        return [
            {"type": "message.part.delta", "properties": {"partID": "p-1", "delta": piece}} for piece in self.pieces
        ]
