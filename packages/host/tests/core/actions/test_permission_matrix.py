"""Every action with each kind of missing access: error code, audit record, and no hint of hidden resources.

The permission of each action is repeated here from the contract instead of read from the table, so that a row with a
missing permission, resource or scope fails.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from parlour.core import errors
from parlour.core.actions.gate import PLUGIN_CALLS_BURST
from parlour.core.encoding import loads
from parlour.core.journal import Statement
from parlour.core.model.budget import Budget
from parlour.core.model.resource_policy import ResourcePolicy
from parlour.core.runs.session import CALLS_BURST, RunTermination
from parlour.core.store.tables import AUDIT, EVENTS
from parlour_sdk.protocol.host_actions import HOST_ACTIONS as ACTIONS
from parlour_sdk.protocol.host_actions import HostAction as Action

from ..support import PLUGIN, World
from .action_requests import GRANTED, IN_RUN, OUTSIDE, discovery, plugin_permissions, request, start_run, world

PERMISSIONS = """
invoke_llm models:invoke · invoke_llm_stream models:stream · invoke_rerank models:rerank · invoke_embedding models:embed
get_tool_detail tools:detail · call_tool tools:call · list_tools tools:detail
list_models models:invoke
list_knowledge knowledge_bases:list · retrieve_knowledge knowledge_bases:retrieve
list_skills skills:list · activate_skill skills:activate · get_file files:config
history_page history:page · history_search history:search · event_get events:get · event_page events:page
artifact_metadata artifacts:metadata · artifact_read artifacts:read · artifact_create artifacts:create
storage_get storage:plugin · storage_set storage:plugin · storage_delete storage:plugin · storage_list storage:plugin
vector_upsert storage:plugin · vector_search storage:plugin
vector_delete storage:plugin · vector_list storage:plugin
run_create agent_runs:create · run_get agent_runs:read · run_list agent_runs:read · run_events_page agent_runs:read
run_cancel agent_runs:control · run_retry agent_runs:control
runtime_register runtimes:admin · runtime_heartbeat runtimes:admin · runtime_deregister runtimes:admin
runtime_wakeups runtimes:admin
runtime_list runtimes:read · run_claim runtimes:admin · run_renew runtimes:admin · run_release runtimes:admin
send_message platform_api:message.send · reply_message platform_api:message.send · send_typing platform_api:message.send
edit_message platform_api:message.manage · delete_message platform_api:message.manage
forward_message platform_api:message.manage · react platform_api:message.manage
start_conversation platform_api:message.manage · get_message platform_api:message.read
get_group_info platform_api:group.read · get_group_list platform_api:group.read · is_muted platform_api:group.read
get_group_member_list platform_api:group.read · get_group_member_info platform_api:group.read
set_group_name platform_api:group.manage · leave_group platform_api:group.manage
mute_member platform_api:member.moderate · unmute_member platform_api:member.moderate
kick_member platform_api:member.moderate
get_user_info platform_api:user.read · get_friend_list platform_api:user.read
answer_friend_request platform_api:requests.answer · answer_group_invite platform_api:requests.answer
upload_file platform_api:media · get_file_url platform_api:media · call_platform_api platform_api:platform.call
process_start processes:start · process_write processes:start
platform_action platform_actions:* · ask_permission platform_actions:*
"""
NEEDS: dict[str, tuple[str, str]] = {
    action: (permission.split(":")[0], permission.split(":")[1])
    for line in PERMISSIONS.split("\n")
    for action, permission in (pair.split() for pair in line.split(" · ") if pair)
}
FREE = {
    "steering_pull": "a capability",
    "state_get": "a scope",
    "state_set": "a scope",
    "state_delete": "a scope",
    "state_list": "a scope",
    "get_host_version": "nothing",
    "gateway_open": "being the run's own plugin",
    "get_plugin_config": "nothing",
    "run_append_result": "being the run's own plugin",
    "run_finalize": "being the run's own plugin",
    "get_knowledge_file": "being asked about the file",
    "invoke_parser": "being asked about the file",
    "list_bots": "nothing",
    "get_bot_capabilities": "nothing",
    "list_plugins": "nothing",
    "list_commands": "nothing",
}
RESOURCES = {
    "invoke_llm": ("model_id", "secret-model"),
    "invoke_llm_stream": ("model_id", "secret-model"),
    "invoke_rerank": ("model_id", "secret-model"),
    "invoke_embedding": ("model_id", "secret-model"),
    "get_tool_detail": ("tool_name", "secret-tool"),
    "call_tool": ("tool_name", "secret-tool"),
    "retrieve_knowledge": ("kb_id", "secret-base"),
    "activate_skill": ("skill_name", "secret-skill"),
    "get_file": ("file_key", "secret-file"),
}
OPERATIONS = {
    "invoke_llm": "embedding-model",
    "invoke_llm_stream": "rerank-model",
    "invoke_rerank": "model",
    "invoke_embedding": "model",
}
"""Granted models of another type than the action needs."""
HANDLER_ERROR_CODES = ("not_found", "not_supported", "invalid_argument", "denied")
STATE = ("state_get", "state_set", "state_delete", "state_list")
STORAGE = ("storage_get", "storage_set", "storage_delete", "storage_list")
HISTORY = ("history_page", "history_search")

Prepared = Callable[[World, Action], Awaitable[dict[str, Any]]]
"""Prepares a world in which the action lacks something, and returns the request."""


def action_name(action: Action) -> str:
    return action.name


async def refused_call(
    made: World, action: Action, request: dict[str, Any], plugin: str = PLUGIN
) -> errors.CallRejected:
    refusal = await outcome(made, action, request, plugin)
    assert refusal is not None, "the call was allowed"
    return refusal


async def outcome(
    made: World, action: Action, request: dict[str, Any], plugin: str = PLUGIN
) -> errors.CallRejected | None:
    try:
        if action.streams:
            async for _ in made.core.gate.stream(plugin, action.name, request):
                pass
        else:
            await made.core.gate.call(plugin, action.name, request)
    except errors.CallRejected as refusal:
        return refusal
    return None


def expect_allowed(made: World, refusal: errors.CallRejected | None, matrix: Any) -> None:
    """Checks that the gate allowed the call; its handler may still fail."""
    assert refusal is None or refusal.code in HANDLER_ERROR_CODES, refusal.message
    assert made.rows(AUDIT, outcome="denied") == []
    matrix.count()


def expect_refused(
    made: World, action: Action, refusal: errors.CallRejected, code: str, matrix: Any, plugin: str = PLUGIN
) -> None:
    """Checks the code of the refusal and that it is recorded before the caller receives it."""
    matrix.count()
    assert refusal.code == code, refusal.message
    entries = made.rows(AUDIT, outcome="denied")
    assert [(row["plugin_id"], row["action"], row["code"]) for row in entries] == [(plugin, action.name, code)]
    event = made.rows(EVENTS, event_type="access.denied")[0]
    assert loads(event["body"])["data"]["action"] == action.name


def test_every_action_has_a_permission_or_needs_none() -> None:
    assert set(NEEDS) | set(FREE) == set(ACTIONS)
    assert not set(NEEDS) & set(FREE)


def each(actions: Iterable[Action]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("action", list(actions), ids=action_name)


def actions_named(names: Iterable[str]) -> list[Action]:
    return [ACTIONS[name] for name in names]


def with_permission(actions: Iterable[Action]) -> list[Action]:
    return [action for action in actions if action.name not in FREE]


@dataclass
class RemoteExecution:
    """A remote execution that has only a holder and a lease."""

    holder: str
    lease_token: str
    write_guards: tuple[Statement, ...] = ()
    final_statements: tuple[Statement, ...] = ()

    async def start(self) -> None: ...

    def abort(self, error: BaseException) -> None: ...


class TestWithinARun:
    @each(IN_RUN)
    async def test_granted_action_reaches_its_handler(self, action: Action, matrix: Any) -> None:
        made = await world()
        model_request = request(action, (await start_run(made)).run_id)
        expect_allowed(made, await outcome(made, action, model_request), matrix)

    @each(IN_RUN)
    async def test_unknown_run_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        await start_run(made)
        expect_refused(
            made, action, await refused_call(made, action, request(action, "no-such-run")), "unauthorized", matrix
        )

    @each(IN_RUN)
    async def test_ended_run_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        run = await start_run(made)
        run.answer("done")
        await made.rest()
        expect_refused(
            made, action, await refused_call(made, action, request(action, run.run_id)), "unauthorized", matrix
        )

    @each(IN_RUN)
    @pytest.mark.parametrize(
        ("status", "code"), [("cancelled", "cancelled"), ("timeout", "deadline_exceeded"), ("failed", "unauthorized")]
    )
    async def test_stopping_run_is_refused(self, action: Action, status: Any, code: str, matrix: Any) -> None:
        made = await world()
        run = await start_run(made)
        session = made.core.sessions.get(run.run_id)
        assert session is not None
        session.stop(RunTermination(status, status))
        expect_refused(made, action, await refused_call(made, action, request(action, run.run_id)), code, matrix)
        await made.rest()

    @each(IN_RUN)
    async def test_outdated_lease_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        run = await start_run(made)
        session = made.core.sessions.get(run.run_id)
        assert session is not None
        session.execute_remotely(RemoteExecution(session.grant.plugin_id, "the present one"))
        stale = {**request(action, run.run_id), "lease": "the one before"}
        expect_refused(made, action, await refused_call(made, action, stale), "unauthorized", matrix)

    @each(actions_named(OPERATIONS))
    @pytest.mark.parametrize("scope", ["workspace", "agent", "conversation", "sender"])
    async def test_exhausted_budget_is_refused(self, action: Action, scope: Any, matrix: Any) -> None:
        """The audit entry has the code of the budget."""
        made = await world()
        await made.core.budgets.add(Budget("small", "Small", scope=scope, tokens=1))
        model_request = request(action, (await start_run(made)).run_id)
        refusal = await refused_call(made, action, model_request)
        assert refusal.code == "budget_exceeded", refusal.message
        assert [row["code"] for row in made.rows(AUDIT, outcome="denied")] == ["budget_exceeded"]
        matrix.count()

    @each(IN_RUN)
    async def test_other_plugin_gets_the_refusal_of_an_unknown_run(self, action: Action, matrix: Any) -> None:
        made, other = await world(), await world()
        run = await start_run(made)
        theirs = await refused_call(made, action, request(action, run.run_id), "evil/twin")
        unknown = await refused_call(other, action, request(action, "no-such-run"), "evil/twin")
        assert theirs.message == unknown.message
        expect_refused(made, action, theirs, "unauthorized", matrix, "evil/twin")

    @each(with_permission(IN_RUN))
    async def test_permission_missing_in_the_manifest_is_refused(self, action: Action, matrix: Any) -> None:
        key, literal = NEEDS[action.name]
        all_but = [each for each in discovery()["manifest"]["permissions"].get(key, []) if each != literal]
        made = await world(discovery(**{key: all_but}))
        run = await start_run(made)
        expect_refused(
            made, action, await refused_call(made, action, request(action, run.run_id)), "unauthorized", matrix
        )

    @each(actions_named(RESOURCES))
    async def test_ungranted_resource_is_refused_like_a_missing_one(self, action: Action, matrix: Any) -> None:
        field, secret = RESOURCES[action.name]
        made, other = await world(), await world()
        hidden = await refused_call(made, action, request(action, (await start_run(made)).run_id, **{field: secret}))
        absent = await refused_call(
            other, action, request(action, (await start_run(other)).run_id, **{field: "nowhere"})
        )
        assert hidden.message.replace(secret, "") == absent.message.replace("nowhere", "")
        expect_refused(made, action, hidden, "unauthorized", matrix)

    @each(actions_named(OPERATIONS))
    async def test_operation_of_another_model_type_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        model_request = request(action, (await start_run(made)).run_id, model_id=OPERATIONS[action.name])
        expect_refused(made, action, await refused_call(made, action, model_request), "unauthorized", matrix)

    @each(actions_named(RESOURCES))
    async def test_empty_resource_policy_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world(policy=ResourcePolicy(skills=()))
        model_request = request(action, (await start_run(made)).run_id)
        expect_refused(made, action, await refused_call(made, action, model_request), "unauthorized", matrix)

    @each(actions_named(STATE))
    @pytest.mark.parametrize("scope", ["conversation", "actor", "subject", "binding", "runner"])
    async def test_state_scope_outside_the_policy_is_refused(self, action: Action, scope: str, matrix: Any) -> None:
        others = tuple(each for each in ("conversation", "actor", "binding", "runner") if each != scope)
        made = await world(scopes=others)
        model_request = request(action, (await start_run(made)).run_id, scope=scope)
        expect_refused(made, action, await refused_call(made, action, model_request), "unauthorized", matrix)

    @each(actions_named(STORAGE))
    @pytest.mark.parametrize("area", ["plugin", "binding", "workspace"])
    async def test_storage_area_outside_the_policy_is_refused(self, action: Action, area: str, matrix: Any) -> None:
        areas = tuple(each for each in ("plugin", "binding", "workspace") if each != area)
        made = await world(policy=replace(GRANTED, storage=areas))
        model_request = request(action, (await start_run(made)).run_id, area=area)
        expect_refused(made, action, await refused_call(made, action, model_request), "unauthorized", matrix)

    @each(actions_named(HISTORY))
    async def test_history_of_another_conversation_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        await made.say("a secret", chat="elsewhere")
        other = await made.plugins.next_run()
        run = await start_run(made)
        named = {"conversation_id": other.context["context"]["conversation_id"]}
        model_request = request(action, run.run_id, **(named if action.name == "history_page" else {"filters": named}))
        expect_refused(made, action, await refused_call(made, action, model_request), "unauthorized", matrix)

    @each(IN_RUN)
    async def test_oversized_request_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        model_request = request(action, (await start_run(made)).run_id, call_id="x" * (action.max_bytes + 1))
        expect_refused(made, action, await refused_call(made, action, model_request), "payload_too_large", matrix)

    @each(IN_RUN)
    async def test_call_over_the_rate_limit_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        run = await start_run(made)
        session = made.core.sessions.get(run.run_id)
        assert session is not None
        assert all(session.rate.try_acquire() for _ in range(CALLS_BURST))
        expect_refused(
            made, action, await refused_call(made, action, request(action, run.run_id)), "rate_limited", matrix
        )

    @each(IN_RUN)
    async def test_call_after_the_deadline_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        run = await start_run(made)
        session = made.core.sessions.get(run.run_id)
        assert session is not None
        session.deadline_at = made.clock.now() - 1
        expect_refused(
            made, action, await refused_call(made, action, request(action, run.run_id)), "deadline_exceeded", matrix
        )

    @each(IN_RUN)
    async def test_malformed_request_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        run = await start_run(made)
        for model_request in (None, [], "x", 5, {}, request(action, run.run_id, call_id=7), request(action, 7)):  # type: ignore[arg-type]
            refusal = await refused_call(made, action, model_request)  # type: ignore[arg-type]
            assert refusal.code == "invalid_argument"
            assert action.name in refusal.message
            matrix.count()

    @each(IN_RUN)
    async def test_unwritten_refusal_is_a_runtime_error(self, action: Action, matrix: Any) -> None:
        made = await world()
        made.journal.broken["access.deny"] = 1
        assert (await refused_call(made, action, request(action, "no-such-run"))).code == "runtime_error"
        matrix.count()


class TestOutsideARun:
    @each(OUTSIDE)
    async def test_granted_action_reaches_its_handler(self, action: Action, matrix: Any) -> None:
        made = await world()
        expect_allowed(made, await outcome(made, action, request(action, None)), matrix)

    @each(with_permission(OUTSIDE))
    async def test_permission_not_granted_by_the_operator_is_refused(self, action: Action, matrix: Any) -> None:
        key, literal = NEEDS[action.name]
        all_but = [each for each in getattr(plugin_permissions(), key) if each != literal and key != "processes"]
        made = await world(granted=plugin_permissions(**{key: all_but}))
        expect_refused(made, action, await refused_call(made, action, request(action, None)), "unauthorized", matrix)

    @each(with_permission(OUTSIDE))
    async def test_plugin_without_permissions_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world(granted=plugin_permissions(**{key: [] for key in type(plugin_permissions()).model_fields}))
        expect_refused(made, action, await refused_call(made, action, request(action, None)), "unauthorized", matrix)

    @each(OUTSIDE)
    async def test_oversized_request_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        model_request = request(action, None, call_id="x" * (action.max_bytes + 1))
        expect_refused(made, action, await refused_call(made, action, model_request), "payload_too_large", matrix)

    @each(OUTSIDE)
    async def test_call_over_the_rate_limit_is_refused(self, action: Action, matrix: Any) -> None:
        made = await world()
        rate = made.core.gate._rate(PLUGIN)
        assert all(rate.try_acquire() for _ in range(PLUGIN_CALLS_BURST))
        expect_refused(made, action, await refused_call(made, action, request(action, None)), "rate_limited", matrix)


@pytest.mark.parametrize("action", [each for each in ACTIONS.values() if each.where == "run"], ids=action_name)
async def test_run_action_outside_a_run_is_refused(action: Action, matrix: Any) -> None:
    made = await world()
    refusal = await refused_call(made, action, request(action, None))
    assert refusal.code == "invalid_argument"
    assert "run_id" in refusal.message
    matrix.count()


@pytest.mark.parametrize("action", [each for each in ACTIONS.values() if each.where == "plugin"], ids=action_name)
async def test_plugin_action_within_a_run_is_refused(action: Action, matrix: Any) -> None:
    made = await world()
    run = await start_run(made)
    expect_refused(made, action, await refused_call(made, action, request(action, run.run_id)), "unauthorized", matrix)
