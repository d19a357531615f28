"""The runner of a small made-up service, which has everything that a service can have."""

from collections.abc import Iterable
from typing import Any

from parlour_sdk.agents import http_agent as http
from parlour_sdk.protocol.usage import Usage


class ToyConfig(http.HttpAgentConfig):
    app_id: str = "demo"

    @property
    def app(self) -> str:
        return self.app_id


class ToyReader(http.EventReader):
    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        match data["event"]:
            case "start":
                return [http.TaskNamed(data["task"]), http.SessionNamed(data["conversation"])]
            case "text":
                return [http.AnswerDelta(data["text"])]
            case "thought":
                return [http.ThinkingDelta(data["text"])]
            case "final":
                return [http.AnswerText(data["text"])]
            case "message_end":
                return [http.AnswerEnd()]
            case "node":
                return [http.NodeProgress(data["id"], data["title"], data["status"], data.get("detail"))]
            case "tool":
                call = http.ToolStart(data["id"], data["name"], data["input"])
                return [call, http.ToolEnd(data["id"], data["name"], data["output"])]
            case "sources":
                return [http.Citations(tuple(data["items"]))]
            case "file":
                return [http.AnswerFile(data["name"], data["url"], mime_type=data.get("type"))]
            case "question":
                return [http.Question(data["text"], tuple(data["options"]), {"form": data["form"]}), http.StreamEnd()]
            case "error":
                reason = "session_unknown" if data.get("code") == "conversation" else "upstream"
                raise http.ServiceFailure(reason, data["message"])
            case "end":
                usage = Usage(prompt_tokens=data["tokens"][0], completion_tokens=data["tokens"][1])
                return [http.UsageReport(usage), http.Suggestions(tuple(data.get("next", ()))), http.StreamEnd()]
            case "ping":
                return []
        return None


class ToyRunner(http.HttpAgentRunner[ToyConfig]):
    service, label, config_type = "toy", "Toy", ToyConfig
    uploads_files = True

    async def build_request(self, turn: http.ServiceTurn[ToyConfig]) -> http.ServiceRequest:
        body: dict[str, Any] = {"app": turn.config.app_id, "query": turn.text, "user": turn.user, "files": turn.uploads}
        if turn.conversation_id is not None:
            body["conversation"] = turn.conversation_id
        if turn.pending:
            body["form"] = turn.pending["form"]
        return http.ServiceRequest("/chat", body)

    def new_reader(self, turn: http.ServiceTurn[ToyConfig]) -> ToyReader:
        return ToyReader()

    async def upload_file(self, turn: http.ServiceTurn[ToyConfig], file: http.InputFile) -> str:
        content = await file.read(turn.api, turn.client)
        form = http.FormFile("file", file.name, content, file.mime_type)
        answer = await turn.client.call(http.ServiceRequest("/files", fields={"user": turn.user}, files=(form,)))
        return str(answer["id"])

    async def stop(self, turn: http.ServiceTurn[ToyConfig]) -> None:
        if turn.task_id is not None:
            await turn.client.call(http.ServiceRequest(f"/chat/{turn.task_id}/stop", {"user": turn.user}))

    async def check_service(self, config: ToyConfig, client: http.ServiceClient) -> str:
        app = await client.call(http.ServiceRequest(f"/apps/{config.app_id}", method="GET"))
        return f"Toy has the app {app['name']}."
