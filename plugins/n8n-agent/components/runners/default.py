"""The runner of n8n webhooks: the request with its files, and the check of an address."""

import base64
import json
from collections.abc import Iterable
from typing import Any

from n8n_agent.config import TEST_PATH, N8nConfig
from n8n_agent.reader import N8nReader

from parlour_sdk.agents import http_agent as http

FILE_NAMES = {"image": "image.png", "audio": "audio.mp3", "video": "video.mp4"}


class N8nRunner(http.HttpAgentRunner[N8nConfig]):
    service, label, config_type = "n8n", "n8n", N8nConfig
    uploads_files = names_sessions = True

    def headers(self, config: N8nConfig) -> dict[str, str]:
        return config.authorization()

    async def build_request(self, turn: http.ServiceTurn[N8nConfig]) -> http.ServiceRequest:
        config, conversation = turn.config, turn.ctx.conversation
        body: dict[str, Any] = {
            **config.extra,
            "text": turn.text,
            "chatInput": turn.text,
            "sessionId": turn.own_session_id,
            "action": "sendMessage",
            "user": {"id": turn.user, "name": turn.ctx.actor.actor_name if turn.ctx.actor else None},
            "conversation": {"type": conversation.launcher_type if conversation else None},
            "event": {"type": turn.ctx.event.event_type, "id": turn.ctx.event.event_id},
        }
        if config.files_as == "json" or not turn.uploads:
            body["files"] = [_file_object(file) for file in turn.uploads]
            return http.ServiceRequest("", body)
        fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in body.items()}
        return http.ServiceRequest("", fields=fields, files=tuple(turn.uploads))

    async def upload_file(self, turn: http.ServiceTurn[N8nConfig], file: http.InputFile) -> http.FormFile:
        """Reads a file, which is part of the request."""
        return http.FormFile("files", file.name, await file.read(turn.api, turn.client), file.mime_type)

    def new_splitter(self, turn: http.ServiceTurn[N8nConfig]) -> http.JsonTextSplitter:
        return http.JsonTextSplitter()

    def new_reader(self, turn: http.ServiceTurn[N8nConfig]) -> N8nReader:
        return N8nReader(turn.config.output_key)

    def is_stream(self, content_type: str) -> bool:
        """Returns whether it is JSON: n8n streams JSON texts under the same type as an answer in one piece."""
        return "json" in content_type or content_type in ("application/octet-stream", "text/event-stream")

    def read_answer(self, turn: http.ServiceTurn[N8nConfig], body: bytes) -> Iterable[http.Update]:
        if turn.content_type.startswith("text/"):
            return [http.AnswerDelta(body.decode(errors="replace")), http.StreamEnd()]
        kind = turn.content_type.partition("/")[0]
        kind = kind if kind in FILE_NAMES else "file"
        name = FILE_NAMES.get(kind, "file")
        return [http.AnswerFile(name, content=body, mime_type=turn.content_type, kind=kind), http.StreamEnd()]

    def explain_error(self, turn: http.ServiceTurn[N8nConfig], status: int, body: bytes) -> http.ServiceFailure | None:
        text = body.decode(errors="replace")
        if status == 404 and "not registered" in text:
            detail = "the workflow is not active, or the webhook has another path or method (POST is needed)"
            return http.ServiceFailure("not_found", f"HTTP 404: {detail}")
        if status == 500 and "orkflow" in text:
            return http.ServiceFailure("upstream", text)
        return None

    async def check_service(self, config: N8nConfig, client: http.ServiceClient) -> str:
        """Checks the address with a method that does not start the workflow."""
        if TEST_PATH in config.base_url:
            raise http.ServiceFailure(
                "config", "webhook_url: this is the test URL, copy the production URL of the node"
            )
        async with client.open(http.ServiceRequest("", method="OPTIONS"), config.connect_timeout) as response:
            if response.status >= 500:
                raise http.ServiceFailure("unavailable", f"HTTP {response.status}")
            if response.status == 404:
                raise http.ServiceFailure("not_found", "HTTP 404: no active workflow has this webhook")
        return "n8n answers at this address. The credentials are checked with the first message."


def _file_object(file: http.FormFile) -> dict[str, Any]:
    return {"name": file.name, "mimeType": file.mime_type, "data": base64.b64encode(file.content).decode()}
