"""Checks behaviours through adapter, Host, plugin process and back."""

import asyncio
from collections.abc import Callable

from parlour.core.delivery.notices import notice_text
from parlour.core.delivery.rendering.repeat_notes import DEFAULT_REPEAT_NOTE
from parlour.core.platforms.manifest import PlatformLimits

from .driver import SuiteChat
from .host_bench import HostBench
from .probe import eventually
from .rows import behaviour

CHATS, TOKENS = 4, 250
"""Chats of the isolation row, and tokens in each."""
MALFORMED = 500
SILENCE_SECONDS = 90.0
ISOLATION_SECONDS = 110.0
SENTENCE = "Some words of a paragraph that fills a message, with an emoji 👩‍👩‍👧 in it. "
FENCE = "```"
FIRST, SECOND = "first", "second"


@behaviour("order")
async def answers_have_the_order_of_their_messages(bench: HostBench) -> None:
    chat = await _chat(bench)
    texts = [f"message {number}" for number in range(3)]
    for text in texts:
        await bench.driver.say(chat, text)
    await _shows(bench, chat, texts)


@behaviour("long answer")
async def a_long_answer_arrives_in_parts_that_join_to_the_whole(bench: HostBench) -> None:
    chat, limits = await _chat(bench), bench.driver.manifest.limits
    paragraph = (SENTENCE * 8).strip()
    words = "\n\n".join(f"{place}: {paragraph}" for place in range(limits.text // len(paragraph) + 1))
    code = "".join(f"print({number})\n" for number in range(limits.text // 8))
    text = f"{words}\n\n```python\n{code}```\n\nThe end."
    await bench.driver.say(chat, text)
    await _until(bench, lambda: any(part.endswith("The end.") for part in bench.driver.read(chat)), ISOLATION_SECONDS)
    parts = bench.driver.read(chat)
    assert len(parts) > 1
    assert all(_length(part, limits) <= limits.text for part in parts)
    assert all(part.count(FENCE) % 2 == 0 for part in parts)
    assert _content("".join(parts)) == _content(text)


@behaviour("cut in mid-reply")
async def an_unacknowledged_reply_is_found_or_repeated_once_and_marked(bench: HostBench) -> None:
    chat, driver = await _chat(bench), bench.driver
    driver.cut_send(happens=True)
    await driver.say(chat, FIRST)
    await _until(bench, lambda: FIRST in driver.read(chat))
    await driver.say(chat, SECOND)
    await _until(bench, lambda: SECOND in driver.read(chat))
    assert driver.read(chat) in ([FIRST, SECOND], [FIRST, _marked(FIRST), SECOND])
    await bench.deliveries(await bench.event_id(FIRST), "sent")


@behaviour("lost reply")
async def a_reply_that_never_arrived_is_sent_again(bench: HostBench) -> None:
    chat, driver = await _chat(bench), bench.driver
    driver.cut_send(happens=False)
    await driver.say(chat, FIRST)
    await _until(bench, lambda: bool(driver.read(chat)))
    await driver.say(chat, SECOND)
    await _until(bench, lambda: SECOND in driver.read(chat))
    assert driver.read(chat) in ([FIRST, SECOND], [_marked(FIRST), SECOND])


@behaviour("never-answered send", is_long=True)
async def a_send_without_an_answer_is_found_or_repeated_once_and_marked(bench: HostBench) -> None:
    chat, other, driver = await _chat(bench), await _chat(bench), bench.driver
    driver.stay_silent()
    await driver.say(chat, FIRST)
    await _until(bench, lambda: FIRST in driver.read(chat))
    await driver.say(other, "other")
    await _shows(bench, other, ["other"])
    event_id = await bench.event_id(FIRST)
    await eventually(lambda: _is_sent(bench, event_id), "the reply is settled", SILENCE_SECONDS)
    assert driver.read(chat) in ([FIRST], [FIRST, _marked(FIRST)])


@behaviour("refused send")
async def a_refused_reply_fails_and_later_ones_are_sent_in_order(bench: HostBench) -> None:
    chat, driver = await _chat(bench), bench.driver
    driver.refuse_send()
    for text in ("refused", SECOND, "third"):
        await driver.say(chat, text)
    await _until(bench, lambda: "third" in driver.read(chat))
    assert [each for each in driver.read(chat) if each != notice_text("delivery.refused")] == [SECOND, "third"]
    step, *_ = await bench.deliveries(await bench.event_id("refused"), "failed", "sent")
    assert (step["data"]["state"], step["data"]["attempts"]) == ("failed", 1)


@behaviour("rate limit")
async def a_reply_waits_for_the_time_that_the_platform_names(bench: HostBench) -> None:
    chat, driver = await _chat(bench), bench.driver
    driver.refuse_send(retry_after=0.2)
    for text in (FIRST, SECOND):
        await driver.say(chat, text)
    await _shows(bench, chat, [FIRST, SECOND])
    [step] = await bench.deliveries(await bench.event_id(FIRST), "sent")
    assert "shown twice" not in step["text"]


@behaviour("redelivery")
async def a_repeated_event_is_answered_once(bench: HostBench) -> None:
    chat, driver = await _chat(bench), bench.driver
    for text in (FIRST, SECOND):
        await driver.say(chat, text)
        await driver.repeat()
    await _shows(bench, chat, [FIRST, SECOND])
    await driver.repeat()
    await driver.say(chat, "third")
    await _shows(bench, chat, [FIRST, SECOND, "third"])


@behaviour("malformed payloads")
async def five_hundred_malformed_payloads_affect_no_chat(bench: HostBench) -> None:
    odd, chat, driver = await _chat(bench), await _chat(bench), bench.driver
    await driver.malformed(odd, seed=1, number=MALFORMED)
    await driver.say(chat, "still here")
    await _shows(bench, chat, ["still here"])
    assert bench.status["state"] == "connected"


@behaviour("reconnect")
async def messages_before_and_after_a_cut_are_answered_once(bench: HostBench) -> None:
    chat, driver = await _chat(bench), bench.driver
    await driver.say(chat, "before")
    await _shows(bench, chat, ["before"])
    await driver.cut()
    await driver.say(chat, "after")
    await _shows(bench, chat, ["before", "after"])
    await eventually(lambda: bench.status["state"] == "connected", "the bot is connected again")


@behaviour("isolation of chats")
async def a_thousand_tokens_of_four_chats_stay_in_their_own_chat(bench: HostBench) -> None:
    bench.route_to_agent()
    kinds = ("private", "group") * (CHATS // 2)
    chats = [await bench.driver.chat(kind) for kind in kinds]  # type: ignore[arg-type]
    tokens = [[f"token{place}x{number}" for number in range(TOKENS)] for place in range(CHATS)]

    def shown(chat: SuiteChat) -> list[str]:
        return " ".join(bench.driver.read(chat)).split()

    async def talk(chat: SuiteChat, own: list[str]) -> None:
        size = bench.driver.tokens_per_message
        for first in range(0, TOKENS, size):
            await bench.driver.say(chat, " ".join(own[first : first + size]))

    await asyncio.gather(*map(talk, chats, tokens))
    await _until(bench, lambda: sum(len(shown(chat)) for chat in chats) >= CHATS * TOKENS, ISOLATION_SECONDS)
    assert [shown(chat) for chat in chats] == tokens


@behaviour("secrecy of tokens")
async def the_token_is_neither_logged_nor_returned(bench: HostBench) -> None:
    token = bench.driver.token
    assert token not in bench.host.log()
    assert token not in bench.host.http().get(f"/bots/{bench.bot_id}").text
    assert token not in bench.host.http().get("/events", params={"bot_id": bench.bot_id, "limit": 100}).text


async def _chat(bench: HostBench) -> SuiteChat:
    bench.route_to_agent()
    return await bench.driver.chat()


async def _until(bench: HostBench, condition: Callable[[], bool], seconds: float = 30.0) -> None:
    await bench.driver.until(condition, seconds)


async def _shows(bench: HostBench, chat: SuiteChat, texts: list[str]) -> None:
    """Waits until the last text is shown and expects exactly these texts."""
    await _until(bench, lambda: texts[-1] in bench.driver.read(chat)[-1:])
    assert bench.driver.read(chat) == texts


def _is_sent(bench: HostBench, event_id: str) -> bool:
    steps = bench.host.http().get(f"/events/{event_id}/why").json()["steps"]
    states = [step["data"]["state"] for step in steps if step["step"] == "delivery"]
    return bool(states) and set(states) == {"sent"}


def _marked(text: str) -> str:
    return f"{text}{DEFAULT_REPEAT_NOTE}"


def _length(text: str, limits: PlatformLimits) -> int:
    match limits.text_unit:
        case "bytes":
            return len(text.encode())
        case "utf16":
            return len(text.encode("utf-16-le")) // 2
    return len(text)


def _content(text: str) -> str:
    """Returns the text without blanks and without fences, which a cut block of code has in both parts."""
    return "".join(text.split()).replace(f"{FENCE}python", "").replace(FENCE, "")
