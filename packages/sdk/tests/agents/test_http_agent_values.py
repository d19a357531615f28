"""Values that services spell in several ways are read without an exception for any of them."""

import pytest

from parlour_sdk.agents import http_agent as http
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.services import FakeService, JsonReply, RecordedRequest, ServiceReply, StreamReply


@pytest.mark.parametrize("used", [None, {}, [], "12", {"input_tokens": 0}, {"total": 3}])
def test_no_counts_are_no_report(used: object) -> None:
    assert http.usage_report(used) == []


def test_counts_are_reported_under_the_names_of_the_service() -> None:
    [report] = http.usage_report({"input_count": 12, "output_count": None}, "input_count", "output_count")
    assert (report.usage.prompt_tokens, report.usage.completion_tokens) == (12, 0)


@pytest.mark.parametrize(("value", "expected"), [('{"a": 1}', {"a": 1}), ("text", "text"), ("", ""), (None, None)])
def test_a_json_text_is_decoded_and_anything_else_kept(value: object, expected: object) -> None:
    assert http.decoded(value) == expected


@pytest.mark.parametrize("body", [b"", b"[1]", b"\xff", b"<html>"])
def test_a_body_that_is_no_object_is_an_empty_one(body: bytes) -> None:
    assert http.json_object(body) == {}


def test_name_and_kind_of_a_file_come_from_its_address_and_type_unless_given() -> None:
    url = "https://host/files/chart.png?sign=1"
    assert http.answer_file(url, mime_type="image/png") == http.AnswerFile(
        "chart.png", url=url, mime_type="image/png", kind="image"
    )
    assert http.answer_file("https://host/", "a.bin", kind="custom", file_id=7) == http.AnswerFile(
        "a.bin", url="https://host/", kind="file", id="7"
    )
    assert http.answer_file("https://host/").name == "file"


def test_credentials_become_the_header_of_their_kind() -> None:
    assert http.authorization("none", "k") == {}
    assert http.authorization("bearer", "k") == {"Authorization": "Bearer k"}
    assert http.authorization("header", "k", "X-Key") == {"X-Key": "k"}
    assert http.authorization("basic", "ü", username="ann") == {"Authorization": "Basic YW5uOsO8"}


def test_a_path_is_added_only_to_an_address_without_one() -> None:
    complete = http.default_path("/v1")
    assert [complete(each) for each in ("http://host", "http://host/api")] == ["http://host/v1", "http://host/api"]


class RepeatingReader(http.EventReader):
    """Names a tool and two files with every event, as services do."""

    def read(self, event: http.ServerEvent) -> list[http.Update]:
        files = [http.answer_file("/a.txt", file_id="f-1"), http.answer_file("/a.txt?sign=2", file_id="f-1")]
        unnamed = [http.answer_file("/b.txt"), http.answer_file("/b.txt")]
        return [http.AnswerDelta("Hi"), http.ToolStart("t-1", "search"), *files, *unnamed]

    def finish(self) -> list[http.Update]:
        return [http.ToolEnd("t-1", "search", "found"), http.StreamEnd()]


class RepeatingRunner(http.HttpAgentRunner[http.HttpAgentConfig]):
    service, label, config_type = "repeating", "Repeating", http.HttpAgentConfig

    async def build_request(self, turn: http.ServiceTurn[http.HttpAgentConfig]) -> http.ServiceRequest:
        return http.ServiceRequest("/chat", {})

    def new_reader(self, turn: http.ServiceTurn[http.HttpAgentConfig]) -> RepeatingReader:
        return RepeatingReader()


class RepeatingService(FakeService):
    async def handle(self, request: RecordedRequest) -> ServiceReply:
        return StreamReply([{}, {}]) if request.path == "/chat" else JsonReply(request.path.encode())


async def test_a_tool_starts_once_and_a_file_is_fetched_once_however_often_they_are_named() -> None:
    async with RepeatingService() as service:
        run = await FakeHost().run(RepeatingRunner(), "hi", config={"base_url": service.url})
    assert [artifact.content for artifact in run.artifacts] == [b"/a.txt", b"/b.txt"]
    assert [each.type for each in run.results if each.type.startswith("tool.")] == [
        "tool.call.started",
        "tool.call.completed",
    ]
