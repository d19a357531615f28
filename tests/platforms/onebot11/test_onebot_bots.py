"""Tests bots that meet on QQ: a message of one bot of this Host is not answered by another."""

from parlour.testing.onebot_simulator import native

from .qq import QQ, event_id, eventually, to_agent

ANN, GROUP = 11, 30003
FIRST, SECOND = 10001, 10002


async def is_ignored(qq: QQ, native: dict[str, object]) -> bool:
    """Returns whether the event was received and ignored because a bot wrote it."""

    def look() -> str:
        answer = qq.host.http().get(f"/events/{event_id(native)}/why")
        return answer.text if answer.status_code == 200 and "by a bot" in answer.text else ""

    return bool(await eventually(look, "the event was passed over"))


async def test_two_accounts_of_one_bot_do_not_answer_each_other(qq: QQ, echo: str) -> None:
    bot = qq.bot(to_agent(echo))
    async with bot.connected(self_id=FIRST) as first, bot.connected(self_id=SECOND) as second:
        await second.until(lambda: second.connected)
        by_other = await first.say(_to(FIRST, "hello, me"), SECOND, GROUP)
        assert await is_ignored(qq, by_other)
        await first.say(_to(FIRST, "hello, bot"), ANN, GROUP)
        [answer] = await first.answered(1)
    bot.delete()
    assert "hello, bot" in answer.text
    assert second.sent() == []


async def test_two_bots_do_not_answer_each_other_in_private(qq: QQ, echo: str) -> None:
    one, other = qq.bot(to_agent(echo)), qq.bot(to_agent(echo))
    async with one.connected(self_id=FIRST) as first, other.connected(self_id=SECOND) as second:
        await second.say("say something to the other one", ANN)
        [said] = await second.answered(1)
        arrived = await first.say(said.text, SECOND)
        assert await is_ignored(qq, arrived)
        await first.say("hello", ANN)
        assert [each.text for each in await first.answered(1)] == ["hello"]
    for bot in (one, other):
        bot.delete()


async def test_a_bot_that_the_implementation_marks_is_not_answered(qq: QQ, echo: str) -> None:
    bot = qq.bot(to_agent(echo))
    async with bot.connected() as simulator:
        message = await simulator.say(_to(FIRST, "beep"), ANN, GROUP, sender={"user_id": ANN, "is_robot": True})
        assert await is_ignored(qq, message)
        assert simulator.sent() == []
    bot.delete()


def _to(account: int, words: str) -> list[dict[str, object]]:
    return [native.segment("at", qq=str(account)), native.text(f" {words}")]
