"""The runner of A2A agents: settings, discovery of the card, requests in both versions, and cancellation."""

import uuid
from collections.abc import Iterable
from typing import Any, Literal

from a2a_agent.card import PATHS, Endpoint, find_endpoint, needed_scheme
from a2a_agent.reader import A2aReader

from parlour_sdk.agents import http_agent as http

METHODS = {
    ("1.0", True): "SendStreamingMessage",
    ("1.0", False): "SendMessage",
    ("0.3", True): "message/stream",
    ("0.3", False): "message/send",
}
"""JSON-RPC methods by version and whether the agent streams."""


class A2aConfig(http.HttpAgentConfig):
    auth: Literal["none", "bearer", "basic", "header"] = "none"
    auth_header: str = "X-API-Key"
    username: str = ""


class A2aRunner(http.HttpAgentRunner[A2aConfig]):
    service, label, config_type = "a2a", "The A2A agent", A2aConfig
    uploads_files = True

    def headers(self, config: A2aConfig) -> dict[str, str]:
        return http.authorization(config.auth, config.api_key.get_secret_value(), config.auth_header, config.username)

    async def build_request(self, turn: http.ServiceTurn[A2aConfig]) -> http.ServiceRequest:
        endpoint = find_endpoint(await _card(turn.config, turn.client), turn.config.base_url)
        turn.notes["endpoint"] = endpoint
        is_new = endpoint.version == "1.0"
        parts = [*([{"text": turn.text}] if turn.text.strip() else []), *turn.uploads]
        message: dict[str, Any] = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": parts}
        if not is_new:
            message |= {"kind": "message", "role": "user", "parts": [_part_of_0_3(part) for part in parts]}
        if turn.conversation_id is not None:
            message["contextId"] = turn.conversation_id
        if turn.pending.get("task_id"):
            message["taskId"] = turn.pending["task_id"]
        params = {"message": message}
        if endpoint.is_rest:
            path = f"{endpoint.path.rstrip('/')}/message:{'stream' if endpoint.streams else 'send'}"
            return http.ServiceRequest(path, params, headers=_version(endpoint))
        return _rpc(endpoint, METHODS[endpoint.version, endpoint.streams], params)

    def new_reader(self, turn: http.ServiceTurn[A2aConfig]) -> A2aReader:
        return A2aReader()

    def read_answer(self, turn: http.ServiceTurn[A2aConfig], body: bytes) -> Iterable[http.Update]:
        """Reads the answer of an agent that does not stream, or an error."""
        updates = A2aReader().read_result(http.json_object(body))
        if updates is None:
            raise http.ServiceFailure("protocol", "the answer is none of A2A")
        return updates

    async def upload_file(self, turn: http.ServiceTurn[A2aConfig], file: http.InputFile) -> dict[str, Any]:
        """Returns a file as a part of the message."""
        content = await file.read_base64(turn.api, turn.client)
        return {"raw": content, "mediaType": file.mime_type or "application/octet-stream", "filename": file.name}

    async def stop(self, turn: http.ServiceTurn[A2aConfig]) -> None:
        endpoint: Endpoint | None = turn.notes.get("endpoint")
        if endpoint is None or turn.task_id is None:
            return
        if endpoint.is_rest:
            path = f"{endpoint.path.rstrip('/')}/tasks/{turn.task_id}:cancel"
            await turn.client.call(http.ServiceRequest(path, {}, headers=_version(endpoint)))
        else:
            method = "CancelTask" if endpoint.version == "1.0" else "tasks/cancel"
            await turn.client.call(_rpc(endpoint, method, {"id": turn.task_id}))

    async def check_service(self, config: A2aConfig, client: http.ServiceClient) -> str:
        card = await _card(config, client)
        endpoint = find_endpoint(card, config.base_url)
        needed = needed_scheme(card)
        if needed and needed.split()[0] != config.auth:
            raise http.ServiceFailure("config", f"auth: the card of {endpoint.name} asks for {needed}")
        binding = "HTTP+JSON" if endpoint.is_rest else "JSON-RPC"
        return f"The agent {endpoint.name} speaks A2A {endpoint.version} over {binding}."


async def _card(config: A2aConfig, client: http.ServiceClient) -> dict[str, Any]:
    """Returns the agent's card. An address that ends with .json is that of the card itself."""
    paths = ("",) if config.base_url.endswith(".json") else PATHS
    for path in paths:
        try:
            card = await client.call(http.ServiceRequest(path, method="GET"))
        except http.ServiceFailure as error:
            if error.reason == "not_found" and path != paths[-1]:
                continue
            raise
        if isinstance(card, dict) and card.get("name"):
            return card
    raise http.ServiceFailure("protocol", "what is at this address is no card of an A2A agent")


def _rpc(endpoint: Endpoint, method: str, params: dict[str, Any]) -> http.ServiceRequest:
    body = {"jsonrpc": "2.0", "id": str(uuid.uuid4()), "method": method, "params": params}
    return http.ServiceRequest(endpoint.path, body, headers=_version(endpoint))


def _version(endpoint: Endpoint) -> dict[str, str]:
    """Returns the header of the version; without it an agent assumes 0.3."""
    return {"A2A-Version": "1.0"} if endpoint.version == "1.0" else {}


def _part_of_0_3(part: dict[str, Any]) -> dict[str, Any]:
    if "text" in part:
        return {"kind": "text", **part}
    file = {"bytes": part["raw"], "mimeType": part["mediaType"], "name": part["filename"]}
    return {"kind": "file", "file": file}
