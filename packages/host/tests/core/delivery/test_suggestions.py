"""Suggested replies are buttons where the platform has them, and text elsewhere; a pressed one is a message."""

from typing import Any

import pytest

from parlour.testing.fake_platform import ShownMessage
from parlour_sdk.protocol.chain import Platform
from parlour_sdk.protocol.people import User

from ..approvals.approval_support import ASK, BOSS, KICK, Group
from .platform_support import PlatformWorld, chat_manifest

ASKED = ["And then?", "Why is the sky blue at noon?"]
ANN, EVE = User(id="ann", nickname="Ann"), User(id="eve", nickname="Eve")
OUTDATED = "no longer known"


async def world_with_buttons(**limits: int) -> PlatformWorld:
    declared = chat_manifest(buttons=True)
    return await PlatformWorld.open(declared.model_copy(update={"limits": declared.limits.model_copy(update=limits)}))


async def answer_with(
    world: PlatformWorld, metadata: dict[str, Any], text: str = "Blue.", stream: bool = False
) -> None:
    await world.platform.say("hello")
    run = await world.plugins.next_run()
    if stream:
        run.send(run.delta(text))
        await world.platform.until(lambda: bool(world.platform.shown))
    message = {"role": "assistant", "content": text, "metadata": metadata}
    run.send(run.result("message.completed", {"message": message}), run.finished())
    await world.rest()


def labels(shown: ShownMessage) -> list[str]:
    return [button["label"] for button in shown.buttons]


async def test_suggestions_are_buttons_below_the_answer() -> None:
    world = await world_with_buttons()
    await answer_with(world, {"suggestions": [*ASKED, ASKED[0], 7, " ", "x" * 501]})
    [shown] = world.platform.shown
    assert (shown.text, labels(shown)) == ("Blue.", ASKED)


async def test_no_more_buttons_are_shown_than_the_platform_has() -> None:
    world = await world_with_buttons(buttons=2)
    await answer_with(world, {"suggestions": ["a", "b", "c"]})
    assert labels(world.platform.shown[0]) == ["a", "b"]


async def test_a_suggestion_that_is_too_long_for_a_button_is_listed_with_its_number() -> None:
    world = await world_with_buttons(button_label=12)
    await answer_with(world, {"suggestions": ASKED})
    [shown] = world.platform.shown
    assert labels(shown) == ["1. And then?", "2. Why is t…"]
    assert shown.text == f"Blue.\n\nSuggested replies:\n1. {ASKED[0]}\n2. {ASKED[1]}"


async def test_a_platform_without_buttons_lists_the_suggestions_in_the_language_of_the_sender() -> None:
    world = await PlatformWorld.open()
    world.core.languages.set_workspace_language("zh-Hans")
    await answer_with(world, {"suggestions": ASKED})
    [shown] = world.platform.shown
    assert shown.text == f"Blue.\n\n建议回复：\n1. {ASKED[0]}\n2. {ASKED[1]}"
    assert not [each for each in shown.chain if isinstance(each, Platform)]


@pytest.mark.parametrize("buttons", [True, False])
async def test_options_of_a_question_are_not_repeated_in_its_text(buttons: bool) -> None:
    world = await world_with_buttons() if buttons else await PlatformWorld.open()
    await answer_with(world, {"question": {"options": ["Approve", "Reject"]}}, "Publish?\n- Approve\n- Reject")
    [shown] = world.platform.shown
    assert shown.text == "Publish?\n- Approve\n- Reject"
    assert labels(shown) == (["Approve", "Reject"] if buttons else [])


async def test_buttons_of_a_streamed_answer_follow_in_a_message_of_their_own() -> None:
    world = await world_with_buttons()
    await answer_with(world, {"suggestions": ASKED}, stream=True)
    answer, below = world.platform.shown
    assert (answer.text, labels(answer)) == ("Blue.", [])
    assert (below.text, labels(below)) == ("Suggested replies:", ASKED)


async def test_a_pressed_suggestion_is_a_message_of_the_person_who_pressed_it() -> None:
    world = await world_with_buttons(button_label=12)
    await answer_with(world, {"suggestions": ASKED})
    await world.platform.press(world.platform.shown[0], "2. Why is t…", EVE)
    run = await world.plugins.next_run()
    assert run.context["event"]["event_type"] == "message.received"
    assert run.context["input"]["text"] == ASKED[1]
    assert run.context["actor"]["actor_id"] == "eve"
    run.answer("Because of the air.")
    await world.rest()
    assert world.platform.texts()[-1] == "Because of the air."


@pytest.mark.parametrize("command", ["/new", "/stop", "🙂🙂 approve {keyword}"])
async def test_a_suggestion_is_never_a_command(command: str) -> None:
    group = await Group.open({"*": ASK}, buttons=True)
    asking = await group.run()
    await group.ask(asking, *KICK)
    text = command.format(keyword=group.keyword)
    message = {"role": "assistant", "content": "Hi.", "metadata": {"suggestions": [text]}}
    asking.send(asking.result("message.completed", {"message": message}), asking.finished())
    await group.calm()
    shown = next(each for each in group.world.platform.shown if text in labels(each))
    await group.world.platform.press(shown, text, BOSS)
    run = await group.world.plugins.next_run()
    assert run.context["input"]["text"] == text
    assert group.approval()["status"] == "pending"


async def test_a_press_that_is_reported_twice_is_one_message() -> None:
    world = await world_with_buttons()
    await answer_with(world, {"suggestions": ASKED})
    for _ in range(2):
        await world.platform.press(world.platform.shown[0], ASKED[0], ANN, event_id="p1")
    (await world.plugins.next_run()).answer("Night.")
    await world.rest()
    assert world.platform.texts() == ["Blue.", "Night."]


async def test_a_suggestion_survives_a_restart() -> None:
    world = await world_with_buttons()
    await answer_with(world, {"suggestions": ASKED})
    world = await world.restart()
    await world.platform.press(world.platform.shown[0], ASKED[0], ANN)
    assert (await world.plugins.next_run()).context["input"]["text"] == ASKED[0]


async def test_a_suggestion_of_another_chat_is_refused() -> None:
    world = await world_with_buttons()
    await answer_with(world, {"suggestions": ASKED})
    shown = world.platform.shown[0]
    elsewhere = ShownMessage(shown.message_id, shown.chat_type, "2", "", shown.chain)
    await world.platform.press(elsewhere, ASKED[0], EVE)
    await world.rest()
    assert OUTDATED in world.platform.texts("2")[0]
    assert len(world.plugins.runs) == 1


@pytest.mark.parametrize("value", ["", None, 7, {"a": 1}, "run-1:zzz", "nothing:", ":abc"])
async def test_an_unknown_suggestion_is_answered_and_starts_no_run(value: Any) -> None:
    world = await world_with_buttons()
    button = {"label": "x", "action_id": "suggestion", "value": value}
    chain = [Platform(platform="fake", component_type="buttons", data={"buttons": [button]})]
    await world.platform.press(ShownMessage("m", "private", "1", "", chain), "x", ANN)
    await world.rest()
    assert OUTDATED in world.platform.texts()[0]
    assert world.plugins.runs == []


async def test_the_press_of_another_button_is_no_message() -> None:
    world = await world_with_buttons()
    button = {"label": "x", "action_id": "order", "value": 7}
    chain = [Platform(platform="fake", component_type="buttons", data={"buttons": [button]})]
    await world.platform.press(ShownMessage("m", "private", "1", "", chain), "x", ANN)
    await world.rest()
    assert world.plugins.runs == []
    assert OUTDATED not in world.platform.texts()[0]
