"""The context of a runner is valid in the protocol."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.access import grants
from parlour.core.model.agent import Binding
from parlour.core.model.event import Participant, RecordedEvent
from parlour.core.model.providers import Providers
from parlour.core.runs.context import ContextInputs, build_request
from parlour.core.runs.runner_registry import RunnerRegistry
from parlour_sdk.protocol.context import AgentRunContext, AgentRunRequest
from parlour_sdk.protocol.steering import SteeringPullResult

from ..support import DISCOVERY, EPOCH, PLUGIN, RUNNER, World, make_agent, make_recorded_event, message

INPUTS = ContextInputs(
    run_id="run", attempt=1, transcript_seq=3, deadline_at=EPOCH + 300_000, state={"conversation": {"seen": 1}}
)
FORM = [
    {"name": "greeting", "label": {"en_US": "Greeting"}, "type": "string", "default": "hi"},
    {"name": "times", "label": {"en_US": "Times"}, "type": "integer"},
]


def request(event: RecordedEvent, inputs: ContextInputs = INPUTS, **agent: Any) -> dict[str, Any]:
    registry = RunnerRegistry()
    manifest = {**DISCOVERY["manifest"], "config_schema": FORM}
    assert registry.replace_plugin(PLUGIN, "1", [{**DISCOVERY, "manifest": manifest}]) == []
    descriptor = registry.get(RUNNER)
    assert descriptor is not None
    binding = Binding(make_agent(**agent), event.envelope.bot_id)
    return build_request(
        event,
        binding,
        descriptor,
        grants.compute(event, binding, descriptor, Providers()),
        Providers(),
        inputs,
        "1.2.3",
        "Asia/Tokyo",
    )


def context(event: RecordedEvent, **agent: Any) -> AgentRunContext:
    return AgentRunRequest.model_validate(request(event, **agent)).context


json_objects = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=3)
parties = st.builds(
    Participant, st.sampled_from(["", "user", "bot"]), st.text(max_size=4), st.text(max_size=4), json_objects
)


@given(
    actor=parties,
    subject=parties,
    surface=st.sampled_from(["webui", "api", "platform"]),
    thread=st.text(max_size=3),
    text=st.text(max_size=20),
    data=json_objects,
    event_time=st.integers(0, 2**50),
)
def test_context_of_any_event_is_valid_and_survives_serialization(
    actor: Participant,
    subject: Participant,
    surface: str,
    thread: str,
    text: str,
    data: dict[str, Any],
    event_time: int,
) -> None:
    envelope = replace(
        message(text, surface=surface, thread_id=thread, subject=subject, data=data, event_time=event_time), actor=actor
    )
    built = request(RecordedEvent(1, "conversation", EPOCH, envelope))
    whole = AgentRunRequest.model_validate(built)
    assert AgentRunRequest.model_validate_json(whole.model_dump_json()) == whole
    assert AgentRunRequest.model_validate(built) == whole


def test_request_names_the_runner_and_the_run() -> None:
    built = AgentRunRequest.model_validate(request(make_recorded_event()))
    assert (built.runner_id, built.runner_name, built.context.run_id) == (RUNNER, "default", "run")


def test_context_has_only_fields_of_the_protocol() -> None:
    """A field of the context has to be in the protocol first."""
    built = request(make_recorded_event())["context"]
    known = AgentRunContext.model_validate(built).model_dump(mode="json")
    assert missing_fields(built, known) == []


def missing_fields(built: Any, known: Any, path: str = "context") -> list[str]:
    if not isinstance(built, dict) or not isinstance(known, dict):
        return []
    lost = [f"{path}.{name}" for name in built if name not in known]
    return lost + [each for name in built if name in known for each in missing_fields(built[name], known[name], name)]


def test_configuration_is_filled_with_form_defaults() -> None:
    assert context(make_recorded_event(), runner_config={"times": 2}).config == {"greeting": "hi", "times": 2}
    assert context(make_recorded_event(), runner_config={"greeting": "yo"}).config == {"greeting": "yo"}


def test_only_granted_apis_are_available() -> None:
    apis = context(make_recorded_event()).context.available_apis
    assert apis.state
    assert apis.steering_pull
    assert not apis.history_page


@pytest.mark.parametrize(
    ("source", "trigger"),
    [("webui", "webui"), ("api", "api"), ("schedule", "scheduler"), ("system", "system"), ("telegram", "platform")],
)
def test_every_source_has_a_trigger(source: str, trigger: str) -> None:
    assert context(make_recorded_event(source=source)).trigger.source == trigger


def test_absent_participants_are_none() -> None:
    built = context(make_recorded_event(actor=""))
    assert built.actor is None
    assert built.subject is None


def test_run_without_a_deadline_has_none() -> None:
    event = make_recorded_event()
    endless = ContextInputs(run_id="run", attempt=1, transcript_seq=1, deadline_at=0, state={})
    assert AgentRunRequest.model_validate(request(event, endless)).context.runtime.deadline_at is None


async def test_run_receives_its_text_state_and_attempt() -> None:
    world = await World.open()
    await world.say("hi")
    run = await world.plugins.next_run()
    await world.call(run, "state_set", scope="conversation", key="seen", value=[1])
    run.answer("hello")
    await world.rest()
    await world.say("again")
    context_of_run = AgentRunRequest.model_validate((await world.plugins.next_run()).request).context
    assert context_of_run.input.text == "again"
    assert context_of_run.state.conversation == {"seen": [1]}
    assert context_of_run.runtime.attempt == 1
    assert context_of_run.context.has_history_before
    assert context_of_run.context.transcript_seq == 3


async def test_pulled_steering_item_is_valid_in_the_protocol() -> None:
    world = await World.open()
    await world.say("hi")
    run = await world.plugins.next_run()
    await world.say("and this")
    items = SteeringPullResult.model_validate(await world.call(run, "steering_pull")).items
    assert [item.input.text for item in items] == ["and this"]
    assert items[0].claimed_run_id == run.run_id
    run.answer("hello")
    await world.rest()
