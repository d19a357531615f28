"""The runner of Coze bots: its settings, requests, files and checks."""

import json
from collections.abc import Iterable
from typing import Any

from coze_agent.reader import CozeReader, failure
from pydantic import Field

from parlour_sdk.agents import http_agent as http

FILE_TYPES = {"image": "image", "audio": "audio"}


class CozeConfig(http.HttpAgentConfig):
    base_url: http.ServiceAddress = Field(alias="api_base")
    bot_id: str
    variables: dict[str, Any] = Field(default_factory=dict)

    @property
    def app(self) -> str:
        return self.bot_id


class CozeRunner(http.HttpAgentRunner[CozeConfig]):
    service, label, config_type = "coze", "Coze", CozeConfig
    uploads_files = True

    async def build_request(self, turn: http.ServiceTurn[CozeConfig]) -> http.ServiceRequest:
        content, kind = turn.text, "text"
        if turn.uploads:
            text = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
            content, kind = json.dumps([*text, *turn.uploads], ensure_ascii=False), "object_string"
        message = {"role": "user", "type": "question", "content_type": kind, "content": content}
        body: dict[str, Any] = {
            "bot_id": turn.config.bot_id,
            "user_id": turn.user,
            "stream": True,
            "auto_save_history": True,
            "additional_messages": [message],
        }
        if turn.config.variables:
            body["custom_variables"] = {name: str(value) for name, value in turn.config.variables.items()}
        query = {"conversation_id": turn.conversation_id} if turn.conversation_id is not None else {}
        return http.ServiceRequest("/v3/chat", body, query=query)

    def new_reader(self, turn: http.ServiceTurn[CozeConfig]) -> CozeReader:
        return CozeReader()

    async def upload_file(self, turn: http.ServiceTurn[CozeConfig], file: http.InputFile) -> dict[str, str]:
        form = http.FormFile("file", file.name, await file.read(turn.api, turn.client), file.mime_type)
        data = _data(await turn.client.call(http.ServiceRequest("/v1/files/upload", files=(form,))))
        return {"type": FILE_TYPES.get(file.kind, "file"), "file_id": str(data["id"])}

    async def stop(self, turn: http.ServiceTurn[CozeConfig]) -> None:
        if turn.task_id is not None and turn.conversation_id is not None:
            ids = {"conversation_id": turn.conversation_id, "chat_id": turn.task_id}
            await turn.client.call(http.ServiceRequest("/v3/chat/cancel", ids))

    def read_answer(self, turn: http.ServiceTurn[CozeConfig], body: bytes) -> Iterable[http.Update]:
        """Raises the error that Coze sends with the status 200."""
        _data(json.loads(body))
        raise http.ServiceFailure("protocol", "the answer is no stream")

    def explain_error(self, turn: http.ServiceTurn[CozeConfig], status: int, body: bytes) -> http.ServiceFailure | None:
        if status in (401, 403, 429) or status >= 500:
            return None
        try:
            problem = json.loads(body)
        except ValueError:
            return None
        return failure(problem) if isinstance(problem, dict) and problem.get("code") else None

    async def check_service(self, config: CozeConfig, client: http.ServiceClient) -> str:
        bot = _data(
            await client.call(
                http.ServiceRequest("/v1/bot/get_online_info", method="GET", query={"bot_id": config.bot_id})
            )
        )
        return f"Coze answers with the bot {bot.get('name') or config.bot_id}."


def _data(answer: Any) -> dict[str, Any]:
    """Returns the data of an answer. Raises ServiceFailure if its code is an error."""
    if not isinstance(answer, dict) or answer.get("code") != 0:
        log_id = str((answer.get("detail") or {}).get("logid") or "") if isinstance(answer, dict) else ""
        raise failure(answer if isinstance(answer, dict) else {}, log_id)
    data = answer.get("data")
    return data if isinstance(data, dict) else {}
