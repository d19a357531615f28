"""Tests old and new releases together: each side ignores the fields that the other has added."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, create_model

from parlour_sdk.plugin import load, read_plugin
from parlour_sdk.protocol import context, events, handshake, resources
from parlour_sdk.protocol.components import BotIdentity, CommandInvocation, EmitEvent, RunnerList
from parlour_sdk.protocol.content import AgentInput, TextElement
from parlour_sdk.protocol.knowledge import KnowledgeDelete, KnowledgeFile, KnowledgeIngest, KnowledgeRetrieve, ParseFile
from parlour_sdk.protocol.manifest import AgentRunnerDiscovery, AgentRunnerManifest
from parlour_sdk.protocol.pages import PageCall, PageViewer
from parlour_sdk.protocol.platform_events import MemberJoined
from parlour_sdk.protocol.results import AgentRunResult
from parlour_sdk.protocol.tools import ToolInvocation, ToolOutcome
from parlour_sdk.service import PluginService
from parlour_sdk.service.runs import envelope
from parlour_sdk.wire import Peer, memory_pair

MAPPINGS = ("static_refs", "config", "metadata")
ADDED = {"since_v1_9": {"mood": ["glad", 5]}}


def newer(entity: type[BaseModel]) -> type[BaseModel]:
    """Returns the entity of a later release, which has one more field with a default."""
    return create_model(f"Newer{entity.__name__}", __base__=entity, since_v1_9=(dict[str, Any] | None, None))


def with_added_fields(value: Any) -> Any:
    """Adds a field to every object, as a newer release would, except to mappings with arbitrary keys."""
    if isinstance(value, dict):
        return {**{key: each if key in MAPPINGS else with_added_fields(each) for key, each in value.items()}, **ADDED}
    return [with_added_fields(each) for each in value] if isinstance(value, list) else value


RUN = context.AgentRunContext(
    run_id="run",
    trigger=events.AgentTrigger(type="message.received", source="api"),
    event=events.AgentEvent(event_id="e", event_type="message.received", source="api"),
    conversation=events.Conversation(conversation_id="c"),
    actor=events.Actor(actor_type="user"),
    subject=events.Subject(subject_type="message"),
    input=AgentInput(text="hi", contents=[TextElement(text="hi")]),
    delivery=context.DeliveryContext(surface="api"),
    resources=resources.AgentResources(models=[resources.ModelResource(model_id="m", name="m", type="llm")]),
    context=context.ContextAccess(),
    state=context.StateSnapshot(),
    runtime=context.RuntimeContext(trace_id="run", attempt=1),
)
FILE = KnowledgeFile(file_id="f", name="a.txt", text="x")
SAMPLES: list[BaseModel] = [
    handshake.Hello(protocol=1, sdk="1", plugin="acme/hello"),
    handshake.Welcome(protocol=1, host="parlour", host_version="1"),
    context.AgentRunRequest(runner_id="r", runner_name="default", context=RUN),
    RUN,
    AgentRunResult(run_id="run", type="message.delta", data={"chunk": {}}, sequence=1),
    RunnerList(runners=[AgentRunnerDiscovery(plugin_author="a", plugin_name="b", runner_name="c", manifest={})]),
    EmitEvent(event={"type": "x"}, bot=BotIdentity(id="b")),
    CommandInvocation(command="ping", conversation=events.Conversation(conversation_id="c")),
    ToolInvocation(tool_name="t", actor=events.Actor(actor_type="user")),
    ToolOutcome(content=[TextElement(text="x")]),
    KnowledgeIngest(kb_id="kb", file=FILE),
    KnowledgeRetrieve(kb_id="kb", query="why"),
    KnowledgeDelete(kb_id="kb"),
    ParseFile(file=FILE),
    PageCall(page="p", action="a", viewer=PageViewer(id="user:1", role="admin")),
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_an_older_release_reads_entities_of_a_newer_one(sample: BaseModel) -> None:
    sent = newer(type(sample)).model_validate({**sample.model_dump(), **ADDED}).model_dump(mode="json")
    assert sent["since_v1_9"] == ADDED["since_v1_9"]
    assert type(sample).model_validate(sent) == sample


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: type(sample).__name__)
def test_a_newer_release_reads_entities_of_an_older_one(sample: BaseModel) -> None:
    read = newer(type(sample)).model_validate(sample.model_dump(mode="json"))
    assert read.model_dump(exclude={"since_v1_9"}) == sample.model_dump()


def test_a_context_with_added_fields_in_every_part_is_read() -> None:
    read = context.AgentRunContext.model_validate(with_added_fields(RUN.model_dump(mode="json")))
    assert (read.run_id, read.input.text, read.resources.models[0].model_id) == ("run", "hi", "m")


class NewerHost:
    """Expects no calls of the plugin."""

    def dispatch(self, action: str, data: Any) -> Any:
        raise AssertionError("no call is expected here")


@asynccontextmanager
async def connection(folder: Path) -> AsyncIterator[Peer]:
    one, other = memory_pair()
    service = PluginService(load(read_plugin(folder)))
    peer, service.peer = Peer(one, NewerHost()), Peer(other, service)
    peer.start()
    service.peer.start()
    try:
        yield peer
    finally:
        await peer.aclose()
        await service.peer.aclose()


async def test_an_old_plugin_serves_a_newer_host(folder: Path) -> None:
    request = context.AgentRunRequest(runner_id="r", runner_name="default", context=RUN).model_dump(mode="json")
    async with connection(folder) as peer:
        results = [
            each
            async for each in peer.stream(
                "run_agent", {**request, **ADDED, "context": with_added_fields(request["context"])}
            )
        ]
        assert [each["type"] for each in results] == ["message.delta", "message.completed", "run.completed"]
        assert (await peer.call("list_agent_runners", ADDED))["runners"]
        joined = {"type": "group.member_joined", "event_id": "e", "timestamp": 1, "group": {"id": "g"}}
        member = {"member": {"user": {"id": "u"}, "group_id": "g"}}
        assert not (await peer.call("emit_event", {"event": with_added_fields({**joined, **member}), **ADDED}))[
            "handled"
        ]
        await peer.call("shutdown", ADDED)


def test_an_event_with_added_fields_keeps_its_class() -> None:
    data = {"type": "group.member_joined", "event_id": "e", "timestamp": 1, "group": {"id": "g"}}
    read = MemberJoined.model_validate(with_added_fields({**data, "member": {"user": {"id": "u"}, "group_id": "g"}}))
    assert read.member.user.id == "u"


async def test_unknown_fields_of_a_newer_manifest_are_ignored_with_warnings(folder: Path) -> None:
    runner = folder / "runner.yaml"
    runner.write_text(runner.read_text().replace("spec:", "since_v1_9: {a: 1}\nspec:\n  since_v1_9: [x]"))
    async with connection(folder) as peer:
        [discovery] = (await peer.call("list_agent_runners"))["runners"]
    manifest = AgentRunnerManifest.model_validate(AgentRunnerDiscovery.model_validate({**discovery, **ADDED}).manifest)
    assert manifest.capabilities.streaming
    assert len(read_plugin(folder).warnings) == 2


def test_an_envelope_with_added_fields_is_a_result() -> None:
    from parlour_sdk import results

    sent = {**envelope("run", 1, results.delta("x")), **ADDED}
    assert AgentRunResult.model_validate(sent).type == "message.delta"
