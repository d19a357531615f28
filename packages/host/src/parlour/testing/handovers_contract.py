"""What every keeper of handovers must do, as tests. An implementation joins by a subclass that gives `lives`.

`lives` makes the keeper of a Host's next life, in which it finds what the one before has noted. Needs pytest and
pytest-asyncio in auto mode.
"""

from collections.abc import Callable

from parlour.core.delivery.send_log import Handovers

Lives = Callable[[], Handovers]


class HandoversContract:
    async def test_what_never_left_is_known_after_a_kill(self, lives: Lives) -> None:
        await lives().take_up([])
        after = lives()
        await after.take_up(["kept"])
        assert not after.begun("kept")
        assert after.answer("kept") is None

    async def test_what_was_handed_over_and_not_answered_is_uncertain(self, lives: Lives) -> None:
        before = lives()
        await before.take_up([])
        before.begin("handed")
        after = lives()
        await after.take_up(["handed", "kept"])
        assert (after.begun("handed"), after.begun("kept")) == (True, False)
        assert after.answer("handed") is None

    async def test_what_was_answered_is_known_with_the_platforms_id(self, lives: Lives) -> None:
        before = lives()
        await before.take_up([])
        for outbox_id, message_id in (("plain", "77"), ("odd", 'a "b"\nc\0\u2028 🎉'), ("unnamed", "")):
            before.begin(outbox_id)
            before.answered(outbox_id, message_id)
        after = lives()
        await after.take_up(["plain", "odd", "unnamed"])
        assert [after.answer(each) for each in ("plain", "odd", "unnamed")] == ["77", 'a "b"\nc\0\u2028 🎉', ""]

    async def test_a_life_that_did_nothing_passes_on_what_it_found(self, lives: Lives) -> None:
        before = lives()
        await before.take_up([])
        before.begin("handed")
        await lives().take_up(["handed", "kept"])
        after = lives()
        await after.take_up(["handed", "kept"])
        assert (after.begun("handed"), after.begun("kept")) == (True, False)

    async def test_what_is_handed_over_again_is_uncertain_again(self, lives: Lives) -> None:
        before = lives()
        await before.take_up([])
        before.begin("again")
        before.answered("again", "1")
        before.settle("again")
        before.begin("again")
        after = lives()
        await after.take_up(["again"])
        assert after.begun("again")
        assert after.answer("again") is None

    async def test_taking_up_twice_changes_nothing(self, lives: Lives) -> None:
        before = lives()
        await before.take_up([])
        before.begin("handed")
        after = lives()
        await after.take_up(["handed"])
        after.begin("new")
        await after.take_up(["handed", "new", "kept"])
        assert [after.begun(each) for each in ("handed", "new", "kept")] == [True, True, False]
