"""The context that a runner is given is what the protocol says it is."""

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

from ..support import DISCOVERY, EPOCH, PLUGIN, RUNNER, World, make_agent, message, recorded

OPENING = ContextInputs(
    run_id="run", attempt=1, transcript_seq=3, deadline_at=EPOCH + 300_000, state={"conversation": {"seen": 1}}
)
FORM = [
    {"name": "greeting", "label": {"en_US": "Greeting"}, "type": "string", "default": "hi"},
    {"name": "times", "label": {"en_US": "Times"}, "type": "integer"},
]


def request(event: RecordedEvent, opening: ContextInputs = OPENING, **agent: Any) -> dict[str, Any]:
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
        opening,
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
def test_whatever_the_event_the_context_is_valid_and_survives_the_wire(
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


def test_it_names_the_runner_and_the_run() -> None:
    built = AgentRunRequest.model_validate(request(recorded()))
    assert (built.runner_id, built.runner_name, built.context.run_id) == (RUNNER, "default", "run")


def test_nothing_is_built_that_the_protocol_does_not_know() -> None:
    """Whoever adds a field to the context adds it to the protocol first."""
    built = request(recorded())["context"]
    known = AgentRunContext.model_validate(built).model_dump(mode="json")
    assert missing(built, known) == []


def missing(built: Any, known: Any, path: str = "context") -> list[str]:
    if not isinstance(built, dict) or not isinstance(known, dict):
        return []
    lost = [f"{path}.{name}" for name in built if name not in known]
    return lost + [each for name in built if name in known for each in missing(built[name], known[name], name)]


def test_the_configuration_is_prefilled_from_the_forms_defaults() -> None:
    assert context(recorded(), runner_config={"times": 2}).config == {"greeting": "hi", "times": 2}
    assert context(recorded(), runner_config={"greeting": "yo"}).config == {"greeting": "yo"}


def test_only_what_was_granted_is_available() -> None:
    apis = context(recorded()).context.available_apis
    assert apis.state
    assert apis.steering_pull
    assert not apis.history_page


@pytest.mark.parametrize(
    ("source", "told"),
    [("webui", "webui"), ("api", "api"), ("schedule", "scheduler"), ("system", "system"), ("telegram", "platform")],
)
def test_every_source_has_its_trigger(source: str, told: str) -> None:
    assert context(recorded(source=source)).trigger.source == told


def test_absent_parties_are_absent() -> None:
    built = context(recorded(actor=""))
    assert built.actor is None
    assert built.subject is None


def test_a_run_without_a_deadline_has_none() -> None:
    event = recorded()
    endless = ContextInputs(run_id="run", attempt=1, transcript_seq=1, deadline_at=0, state={})
    assert AgentRunRequest.model_validate(request(event, endless)).context.runtime.deadline_at is None


async def test_a_real_run_is_told_its_text_state_and_attempt() -> None:
    world = await World.open()
    await world.say("hi")
    run = await world.plugins.next_run()
    await world.call(run, "state_set", scope="conversation", key="seen", value=[1])
    run.answer("hello")
    await world.rest()
    await world.say("again")
    told = AgentRunRequest.model_validate((await world.plugins.next_run()).request).context
    assert told.input.text == "again"
    assert told.state.conversation == {"seen": [1]}
    assert told.runtime.attempt == 1
    assert told.context.has_history_before
    assert told.context.transcript_seq == 3


async def test_what_a_run_pulls_is_what_the_protocol_says_a_steering_item_is() -> None:
    world = await World.open()
    await world.say("hi")
    run = await world.plugins.next_run()
    await world.say("and this")
    items = SteeringPullResult.model_validate(await world.call(run, "steering_pull")).items
    assert [item.input.text for item in items] == ["and this"]
    assert items[0].claimed_run_id == run.run_id
    run.answer("hello")
    await world.rest()
