"""Rows of the contract that concern every runner."""

from .rigs import RunnerRig

SHORT_SECONDS = 0.3


async def an_answer_is_streamed(rig: RunnerRig) -> None:
    rig.answer("Hello", " there", "!")
    run = await rig.host().run(rig.plugin, rig.said, config=rig.config())
    assert run.status == "completed", run
    assert run.warnings == []
    if rig.manifest.capabilities.streaming:
        assert len(run.deltas) > 1, run


async def the_joined_fragments_are_the_message(rig: RunnerRig) -> None:
    pieces = ("Grüße", " 世", "界", "\n\n", "end ")
    rig.answer(*pieces)
    run = await rig.host().run(rig.plugin, rig.said, config=rig.config())
    assert run.status == "completed", run
    if rig.manifest.capabilities.streaming:
        assert "".join(run.deltas) == run.text, run
    assert run.text == "".join(pieces), run


async def a_cancelled_run_stops(rig: RunnerRig) -> None:
    rig.hold("Hello")
    async with rig.host().start(rig.plugin, rig.said, config=rig.config(), timeout=30) as run:
        await run.until_delta()
        run.cancel()
    assert run.status == "cancelled", run
    assert run.warnings == [], "the runner did not stop in time"


async def a_run_ends_at_its_deadline(rig: RunnerRig) -> None:
    rig.hold("Hello")
    run = await rig.host().run(rig.plugin, rig.said, config=_patient(rig), timeout=SHORT_SECONDS)
    assert (run.status, run.code) == ("timeout", "runner.timeout"), run
    assert run.warnings == [], "the runner did not stop in time"


async def an_empty_answer_is_no_success(rig: RunnerRig) -> None:
    rig.answer()
    run = await rig.host().run(rig.plugin, rig.said, config=rig.config())
    assert run.silent or (run.status == "failed" and run.code and run.error), run


async def a_further_message_is_steered_or_left_to_the_queue(rig: RunnerRig) -> None:
    rig.answer("Hello")
    host = rig.host()
    if rig.manifest.capabilities.steering:
        run = await host.run(rig.plugin, rig.said, config=rig.config(), steering=["and this"])
        assert run.status == "completed", run
        pulled = "steering_pull" in [call.action for call in run.calls]
        assert not pulled or run.unpulled == [], run
        assert "Hello" in run.text, run
    else:
        run = await host.run(rig.plugin, rig.said, config=rig.config())
        assert "steering_pull" not in [call.action for call in run.calls], run


async def no_call_is_made_without_a_permission(rig: RunnerRig) -> None:
    rig.answer("Hello")
    run = await rig.host().run(rig.plugin, rig.said, config=rig.config())
    assert [call for call in run.calls if call.error is not None] == [], run


def _patient(rig: RunnerRig) -> dict[str, object]:
    """Returns the configuration without a time limit that ends before the run's own."""
    config = rig.config()
    return {**config, **{name: 30 for name in config if name in ("idle_timeout", "first_event_timeout")}}


ROWS = (
    an_answer_is_streamed,
    the_joined_fragments_are_the_message,
    a_cancelled_run_stops,
    a_run_ends_at_its_deadline,
    an_empty_answer_is_no_success,
    a_further_message_is_steered_or_left_to_the_queue,
    no_call_is_made_without_a_permission,
)
