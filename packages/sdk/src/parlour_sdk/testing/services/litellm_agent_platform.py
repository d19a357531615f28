"""A fake of the three session APIs of the LiteLLM Agent Platform, written from its sources of June 2026."""

import asyncio
from itertools import count
from typing import Any

from .fake_service import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply

FIRST = ["api", "v1", "managed_agents"]
AGENT = {"id": "agent-1", "name": "Helper"}


class FakeAgentPlatform(FakeService):
    """One agent, `agent-1`, under all three interfaces.

    `parts` sends the events of an opencode harness on the control plane; the first version always does.
    """

    def __init__(self, parts: bool = False) -> None:
        super().__init__()
        self.parts = parts
        self.sessions: dict[str, list[dict[str, Any]]] = {}
        """The events of each session."""
        self.prompts: list[str] = []
        self.starting = 0
        """How many times a session of the first version is reported as not ready."""
        self._numbers = count(1)
        self._prompted: dict[str, asyncio.Future[list[dict[str, Any]]]] = {}

    async def handle(self, request: RecordedRequest) -> ServiceReply:
        path = request.path.strip("/").split("/")
        if path[:3] == FIRST:
            return self._handle_first(request, path[3:])
        match request.method, path:
            case "POST", ["session"] | ["v1", "sessions"]:
                return JsonReply({"id": self._create(), "status": "idle"})
            case "POST", ["session", session, "prompt_async"]:
                self._prompt(session, request.json["parts"][0]["text"])
                return JsonReply(status=204)
            case "POST", ["v1", "sessions", session, "events"]:
                if session not in self.sessions:
                    return JsonReply({"error": "opencode prompt failed (404)", "detail": ""}, 502)
                self._prompt(session, request.json["events"][0]["content"][0]["text"])
                return JsonReply({"ok": True}, 202)
            case "POST", ["session", _, "interrupt" | "abort"] | ["v1", "sessions", _, "abort"]:
                return JsonReply({})
            case "GET", ["v1", "sessions", session, "events"]:
                return self._list_events(session)
            case "GET", ["v1", "sessions", session, "events", "stream"]:
                return self._stream_events(session)
            case "GET", ["api", "agents"]:
                return JsonReply({"agents": [AGENT]})
            case "GET", ["v1", "agents"]:
                return JsonReply({"data": [AGENT]})
        return JsonReply({"error": {"message": "not found"}}, 404)

    def _handle_first(self, request: RecordedRequest, path: list[str]) -> ServiceReply:
        match request.method, path:
            case "GET", ["agents"]:
                return JsonReply({"data": [AGENT], "total": 1, "limit": 50, "offset": 0})
            case "POST", ["agents", "agent-1", "session"]:
                return JsonReply({"id": self._create(), "status": "creating"})
            case "GET", ["sessions", session]:
                self.starting -= 1
                return JsonReply({"id": session, "status": "creating" if self.starting >= 0 else "ready"})
            case "POST", ["sessions", session, "message_stream"]:
                if session not in self.sessions:
                    return JsonReply({"error": f"session {session} not found or not ready"}, 404)
                self.prompts.append(request.json["text"])
                return StreamReply(self._harness_events(session, request.json["text"]))
            case "POST", ["sessions", _, "abort"]:
                return JsonReply({"ok": True})
        return JsonReply({"error": "not found"}, 404)

    def _create(self) -> str:
        session = f"s-{next(self._numbers)}"
        self.sessions[session] = []
        return session

    def _list_events(self, session: str) -> JsonReply:
        if session not in self.sessions:
            return JsonReply({"error": {"message": "session not found"}}, 404)
        return JsonReply({"data": self.sessions[session]})

    def _stream_events(self, session: str) -> StreamReply:
        """Repeats the events of earlier messages, and waits for a prompt."""
        answer = self._prompted[session] = asyncio.get_running_loop().create_future()
        return StreamReply([*self.sessions.get(session, ()), answer])

    def _prompt(self, session: str, said: str) -> None:
        """Answers a prompt on the stream of its session."""
        self.prompts.append(said)
        before = self.sessions[session]
        kinds = [{"type": "session.status_running"}, *self._answer(), {"type": "session.status_idle"}]
        new = [{"id": f"e-{len(before) + index}", **each} for index, each in enumerate(kinds)]
        self.sessions[session] = [*before, *new]
        if not self._prompted[session].done():
            self._prompted[session].set_result(new)

    def _answer(self) -> list[dict[str, Any]]:
        if not self.parts:
            return [{"type": "agent.message", "content": [{"type": "text", "text": piece}]} for piece in self.pieces]
        return self._parts("s", "hello")

    def _harness_events(self, session: str, said: str) -> list[dict[str, Any]]:
        """Returns the events of an opencode harness as the first version wraps them."""
        wrapped = [
            {"type": "harness_event", "event": {"id": f"evt-{number}", **event}}
            for number, event in enumerate(self._parts(session, said))
        ]
        idle = {"type": "harness_event", "event": {"type": "session.idle", "properties": {"sessionID": session}}}
        return [{"type": "ready"}, *wrapped, idle, {"type": "done"}]

    def _parts(self, session: str, said: str) -> list[dict[str, Any]]:
        """Returns the user's message, which the harness repeats, and the parts of the answer."""
        tokens = {"input": 12, "output": 3, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        of = {"sessionID": session}
        user = {"id": "msg-1", "role": "user", **of}
        assistant = {"id": "msg-2", "role": "assistant", "tokens": tokens, **of}
        echo = {"id": "prt-0", "messageID": "msg-1", "type": "text", "text": said, **of}
        empty = {"id": "prt-1", "messageID": "msg-2", "type": "text", "text": "", **of}
        deltas = [
            {**of, "messageID": "msg-2", "partID": "prt-1", "field": "text", "delta": piece} for piece in self.pieces
        ]
        whole = {**empty, "text": "".join(self.pieces)}
        return [
            {"type": "message.updated", "properties": {"info": user, **of}},
            {"type": "message.part.updated", "properties": {"part": echo, **of}},
            {"type": "message.part.updated", "properties": {"part": empty, **of}},
            *({"type": "message.part.delta", "properties": each} for each in deltas),
            {"type": "message.part.updated", "properties": {"part": whole, **of}},
            {"type": "message.updated", "properties": {"info": assistant, **of}},
        ]
