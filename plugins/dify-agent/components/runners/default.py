"""The runner of Dify apps: settings, requests, files, answers to forms, and the check of a configuration."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from dify_agent.reader import DifyReader, failure
from pydantic import AfterValidator, Field

from parlour_sdk.agents import http_agent as http

MODES = {"chat": "chat", "agent-chat": "agent", "agent": "agent", "advanced-chat": "chatflow", "workflow": "workflow"}
"""Values of `app_type` by the mode that Dify tells."""
FILE_TYPES = {"image": "image", "audio": "audio", "video": "video", "file": "document"}


class DifyConfig(http.HttpAgentConfig):
    base_url: Annotated[http.ServiceAddress, AfterValidator(http.default_path("/v1"))]
    app_type: Literal["chat", "agent", "chatflow", "workflow"] = "chat"
    inputs: dict[str, Any] = Field(default_factory=dict)
    query_variable: str = "query"
    files_variable: str = ""
    output_key: str = ""
    base_prompt: str = ""
    suggestions: bool = False

    @property
    def is_workflow(self) -> bool:
        return self.app_type == "workflow"


class DifyRunner(http.HttpAgentRunner[DifyConfig]):
    service, label, config_type = "dify", "Dify", DifyConfig
    uploads_files = True

    async def build_request(self, turn: http.ServiceTurn[DifyConfig]) -> http.ServiceRequest:
        if turn.pending.get("form_token"):
            return await self._answer_form(turn)
        config, text = turn.config, turn.text.strip() or turn.config.base_prompt
        body: dict[str, Any] = {"inputs": dict(config.inputs), "response_mode": "streaming", "user": turn.user}
        if config.is_workflow:
            body["inputs"][config.query_variable] = text
            if turn.uploads:
                body["inputs"][config.files_variable] = turn.uploads
            return http.ServiceRequest("/workflows/run", body)
        body |= {"query": text, "files": turn.uploads, "auto_generate_name": False}
        if turn.conversation_id is not None:
            body["conversation_id"] = turn.conversation_id
        return http.ServiceRequest("/chat-messages", body)

    async def _answer_form(self, turn: http.ServiceTurn[DifyConfig]) -> http.ServiceRequest:
        """Submits the form that the workflow waits for; its stream then goes on."""
        pending, text = turn.pending, turn.text.strip()
        actions: list[list[str]] = pending.get("actions") or []
        chosen = next((each for each in actions if text.casefold() in {part.casefold() for part in each}), None)
        action = (chosen or next(iter(actions), [""]))[0]
        inputs = {} if chosen else dict.fromkeys(pending.get("inputs") or [], text)
        form = {"inputs": inputs, "action": action, "user": turn.user}
        await turn.client.call(http.ServiceRequest(f"/form/human_input/{pending['form_token']}", form))
        query = {"user": turn.user, "include_state_snapshot": "false"}
        return http.ServiceRequest(f"/workflow/{pending['run_id']}/events", method="GET", query=query)

    def new_reader(self, turn: http.ServiceTurn[DifyConfig]) -> DifyReader:
        return DifyReader(turn)

    async def upload_file(self, turn: http.ServiceTurn[DifyConfig], file: http.InputFile) -> dict[str, str]:
        if turn.config.is_workflow and not turn.config.files_variable:
            raise http.ServiceFailure("input", "files_variable: name the input of the workflow that takes files")
        content = await file.read(turn.api, turn.client)
        form = http.FormFile("file", file.name, content, file.mime_type)
        request = http.ServiceRequest("/files/upload", fields={"user": turn.user}, files=(form,))
        uploaded = await turn.client.call(request)
        reference = {"transfer_method": "local_file", "upload_file_id": str(uploaded["id"])}
        return {"type": FILE_TYPES[file.kind], **reference}

    async def stop(self, turn: http.ServiceTurn[DifyConfig]) -> None:
        if turn.task_id is not None:
            path = "/workflows/tasks" if turn.config.is_workflow else "/chat-messages"
            await turn.client.call(http.ServiceRequest(f"{path}/{turn.task_id}/stop", {"user": turn.user}))

    async def after_answer(self, turn: http.ServiceTurn[DifyConfig]) -> Iterable[http.Update]:
        if not turn.config.suggestions or "message_id" not in turn.notes or turn.config.is_workflow:
            return ()
        path = f"/messages/{turn.notes['message_id']}/suggested"
        found = await turn.client.call(http.ServiceRequest(path, method="GET", query={"user": turn.user}))
        return [http.Suggestions(tuple(str(each) for each in found.get("data") or ()))]

    def explain_error(self, turn: http.ServiceTurn[DifyConfig], status: int, body: bytes) -> http.ServiceFailure | None:
        data = http.json_object(body)
        is_plain = status in (401, 403, 429) or status >= 500 or not data.get("code")
        return None if is_plain and data.get("code") != "rate_limit_error" else failure(data)

    async def check_service(self, config: DifyConfig, client: http.ServiceClient) -> str:
        info = await client.call(http.ServiceRequest("/info", method="GET"))
        name, mode = str(info.get("name") or ""), MODES.get(str(info.get("mode")))
        if mode is not None and mode != config.app_type:
            raise http.ServiceFailure("config", f"app_type: the key belongs to the app {name}, choose {mode}")
        parameters = await client.call(http.ServiceRequest("/parameters", method="GET"))
        given = {*config.inputs, *((config.query_variable,) if config.is_workflow else ())}
        fields = [field for each in parameters.get("user_input_form") or [] for field in each.values()]
        missing = [str(each["variable"]) for each in fields if each.get("required") and each["variable"] not in given]
        if missing:
            raise http.ServiceFailure("config", f"inputs: the app requires {', '.join(missing)}")
        return f"Dify answers with the app {name}."
