"""The runner of Tbox applications: its settings, requests, files and checks."""

import json
from collections.abc import Iterable
from typing import Any

from tbox_agent.reader import TboxReader, failure

from parlour_sdk.agents import http_agent as http

FILE_TYPES = {"image": "IMAGE", "audio": "AUDIO", "video": "VIDEO", "file": "FILE"}


class TboxConfig(http.HttpAgentConfig):
    base_url: http.ServiceAddress = "https://api.tbox.cn"
    app_id: str
    search_engine: bool = False

    @property
    def app(self) -> str:
        return self.app_id


class TboxRunner(http.HttpAgentRunner[TboxConfig]):
    service, label, config_type = "tbox", "Tbox", TboxConfig
    uploads_files = True

    def headers(self, config: TboxConfig) -> dict[str, str]:
        return {"Authorization": config.api_key.get_secret_value(), "source": "AGENT_SDK"}

    async def build_request(self, turn: http.ServiceTurn[TboxConfig]) -> http.ServiceRequest:
        body: dict[str, Any] = {
            "appId": turn.config.app_id,
            "query": turn.text,
            "userId": turn.user,
            "stream": True,
            "searchEngine": turn.config.search_engine,
        }
        if turn.conversation_id is not None:
            body["conversationId"] = turn.conversation_id
        if turn.uploads:
            body["files"] = turn.uploads
        return http.ServiceRequest("/api/chat", body)

    def new_reader(self, turn: http.ServiceTurn[TboxConfig]) -> TboxReader:
        return TboxReader()

    async def upload_file(self, turn: http.ServiceTurn[TboxConfig], file: http.InputFile) -> dict[str, str]:
        form = http.FormFile("file", file.name, await file.read(turn.api, turn.client), file.mime_type)
        answer = await turn.client.call(http.ServiceRequest("/api/file/upload", files=(form,)))
        return {"fileId": str(_data(answer)), "type": FILE_TYPES[file.kind]}

    def read_answer(self, turn: http.ServiceTurn[TboxConfig], body: bytes) -> Iterable[http.Update]:
        """Raises the error that Tbox sends with the status 200."""
        _data(json.loads(body))
        raise http.ServiceFailure("protocol", "the answer is no stream")

    async def check_service(self, config: TboxConfig, client: http.ServiceClient) -> str:
        query = {"appId": config.app_id, "pageNum": "1", "pageSize": "1"}
        request = http.ServiceRequest("/api/conversation/conversations", method="GET", query=query)
        _data(await client.call(request))
        return "Tbox accepts the key for this application."


def _data(answer: Any) -> Any:
    """Returns the data of an answer. Raises ServiceFailure if it is an error."""
    if not isinstance(answer, dict) or str(answer.get("errorCode")) != "0":
        raise failure(answer if isinstance(answer, dict) else {})
    return answer.get("data")
