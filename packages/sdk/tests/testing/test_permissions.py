"""Tests that a fake Host grants exactly the declared permissions, so that a test finds missing ones."""

import asyncio
from typing import Any

import pytest

from parlour_sdk import results
from parlour_sdk.components import EventListener, on
from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.testing import FakeHost, HandlerFailed, message

from .recording import RecordingCall
from .runners import runner, yielding

EVERYTHING_ELSE: dict[str, Any] = {
    "models": {"m": "hello"},
    "tools": {"t": "ok"},
    "knowledge": {"kb": ["text"]},
    "skills": {"s": "be brief"},
    "files": {"f": b"x"},
}
CALLS: dict[str, tuple[dict[str, list[str]], Any]] = {
    "invoke": ({"models": ["invoke"]}, lambda api: api.models.invoke("m", "hi")),
    "tool detail": ({"tools": ["detail"]}, lambda api: api.tools.get("t")),
    "tool call": ({"tools": ["call"]}, lambda api: api.tools.call("t")),
    "knowledge list": ({"knowledge_bases": ["list"]}, lambda api: api.knowledge.list()),
    "retrieve": ({"knowledge_bases": ["retrieve"]}, lambda api: api.knowledge.retrieve("kb", "text")),
    "skills": ({"skills": ["list"]}, lambda api: api.skills.list()),
    "activate": ({"skills": ["activate"]}, lambda api: api.skills.activate("s")),
    "history": ({"history": ["page"]}, lambda api: api.history.page()),
    "search": ({"history": ["search"]}, lambda api: api.history.search("hi")),
    "events": ({"events": ["page"]}, lambda api: api.events.page()),
    "artifacts": ({"artifacts": ["create"]}, lambda api: api.artifacts.create(b"x")),
    "storage": ({"storage": ["workspace"]}, lambda api: api.storage.get("workspace", "k")),
    "files": ({"files": ["config"]}, lambda api: api.files.get("f")),
    "runs": ({"agent_runs": ["read"]}, lambda api: api.runs.list()),
    "runtimes": ({"runtimes": ["read"]}, lambda api: api.runtimes.list()),
    "actions": ({"platform_actions": ["message.*"]}, lambda api: api.platform.request_action("message.send")),
}


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_needs_its_declared_permission(name: str) -> None:
    permissions, call = CALLS[name]
    granted = await FakeHost(**EVERYTHING_ELSE, permissions=permissions).run(runner(RecordingCall(call).body))
    assert granted.silent, granted
    run = await FakeHost(**EVERYTHING_ELSE, permissions={}).run(runner(RecordingCall(call).body))
    assert run.failed_with("unauthorized")
    assert "unauthorized" in repr(run)


async def test_tools_knowledge_and_skills_require_the_capability() -> None:
    host = FakeHost(**EVERYTHING_ELSE, capabilities={})
    resources = (await host.run(yielding(results.silent()))).context.resources
    assert (resources.tools, resources.knowledge_bases, resources.skills) == ([], [], [])
    assert [model.model_id for model in resources.models] == ["m"]
    assert (await host.run(runner(RecordingCall(lambda api: api.tools.call("t")).body))).failed_with("unauthorized")


async def test_a_resource_that_does_not_exist_is_unauthorized() -> None:
    run = await FakeHost(models={"m": "x"}).run(runner(RecordingCall(lambda api: api.models.invoke("gpt", "hi")).body))
    assert run.failed_with("unauthorized")
    assert "'gpt'" in str(run.error)


async def test_a_chat_model_can_not_be_used_for_embeddings() -> None:
    run = await FakeHost(models={"m": "x"}).run(runner(RecordingCall(lambda api: api.models.embed("m", ["a"])).body))
    assert run.failed_with("unauthorized")


async def test_the_history_of_another_conversation_needs_a_grant() -> None:
    host = FakeHost(history=[("user", "secret")])
    first = host.conversation_id
    host.new_conversation()
    recorded = RecordingCall(lambda api: api.history.page(conversation_id=first))
    assert (await host.run(runner(recorded.body))).failed_with("unauthorized")
    host = FakeHost(history=[("user", "shared")], other_conversations=True)
    host.new_conversation()
    assert (await host.run(runner(recorded.body))).silent
    assert [item.content for item in recorded.answers[0].items] == ["shared"]


async def test_the_context_lists_the_available_apis() -> None:
    host = FakeHost(permissions={"history": ["page"], "storage": ["plugin"]}, capabilities={"steering": True})
    context = (await host.run(yielding(results.silent()))).context
    apis = context.context.available_apis
    assert (apis.history_page, apis.history_search, apis.steering_pull, apis.state) == (True, False, True, True)
    assert (context.resources.storage.plugin_storage, context.resources.storage.workspace_storage) == (True, False)


async def test_calls_of_an_ended_run_are_refused() -> None:
    stored: list[Any] = []

    async def keeping(ctx: Any, api: Any) -> Any:
        stored.append(api)
        yield results.delta("a")
        try:
            await asyncio.Event().wait()
        finally:
            try:
                await api.host.version()
            except AgentAPIException as refusal:
                stored.append(refusal.code)

    async with FakeHost().start(runner(keeping)) as run:
        await run.until_delta()
        run.cancel()
    assert stored[1] in ("unauthorized", "cancelled")


class Welcoming(EventListener):
    @on("message.received")
    async def greet(self, event: Any, ctx: Any) -> None:
        await ctx.reply("welcome")


async def test_a_listener_needs_the_permission_of_its_plugin() -> None:
    outcome = await FakeHost(plugin_permissions={"platform_api": ["message.send"]}).emit(Welcoming(), message("hi"))
    assert outcome.handled
    host = FakeHost(plugin_permissions={"platform_api": ["message.read"]})
    with pytest.raises(HandlerFailed) as failed:
        await host.emit(Welcoming(), message("hi"))
    assert isinstance(failed.value.__cause__, AgentAPIException)
    assert failed.value.__cause__.code == "unauthorized"
    assert host.sent == []
