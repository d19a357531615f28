"""Tests that every send log must pass. An implementation joins by a subclass that provides `open_log`.

`open_log` creates the send log of the Host's next process, which finds the notes of the previous one. The tests need
pytest and pytest-asyncio in auto mode.
"""

from collections.abc import Callable

from parlour.core.delivery.send_log import SendLog
from parlour.core.model.ids import OutboxId

OpenSendLog = Callable[[], SendLog]


class SendLogContract:
    async def test_what_never_left_is_known_after_a_kill(self, open_log: OpenSendLog) -> None:
        await open_log().load([])
        after = open_log()
        await after.load(["kept"])
        assert not after.was_started(OutboxId("kept"))
        assert after.message_id(OutboxId("kept")) is None

    async def test_what_was_handed_over_and_not_answered_is_uncertain(self, open_log: OpenSendLog) -> None:
        before = open_log()
        await before.load([])
        before.record_start(OutboxId("handed"))
        after = open_log()
        await after.load(["handed", "kept"])
        assert (after.was_started(OutboxId("handed")), after.was_started(OutboxId("kept"))) == (True, False)
        assert after.message_id(OutboxId("handed")) is None

    async def test_what_was_answered_is_known_with_the_platforms_id(self, open_log: OpenSendLog) -> None:
        before = open_log()
        await before.load([])
        for outbox_id, message_id in (("plain", "77"), ("odd", 'a "b"\nc\0\u2028 🎉'), ("unnamed", "")):
            before.record_start(OutboxId(outbox_id))
            before.record_acknowledgement(OutboxId(outbox_id), message_id)
        after = open_log()
        await after.load(["plain", "odd", "unnamed"])
        assert [after.message_id(OutboxId(each)) for each in ("plain", "odd", "unnamed")] == [
            "77",
            'a "b"\nc\0\u2028 🎉',
            "",
        ]

    async def test_a_process_that_did_nothing_passes_on_what_it_found(self, open_log: OpenSendLog) -> None:
        before = open_log()
        await before.load([])
        before.record_start(OutboxId("handed"))
        await open_log().load(["handed", "kept"])
        after = open_log()
        await after.load(["handed", "kept"])
        assert (after.was_started(OutboxId("handed")), after.was_started(OutboxId("kept"))) == (True, False)

    async def test_what_is_handed_over_again_is_uncertain_again(self, open_log: OpenSendLog) -> None:
        before = open_log()
        await before.load([])
        before.record_start(OutboxId("again"))
        before.record_acknowledgement(OutboxId("again"), "1")
        before.clear(OutboxId("again"))
        before.record_start(OutboxId("again"))
        after = open_log()
        await after.load(["again"])
        assert after.was_started(OutboxId("again"))
        assert after.message_id(OutboxId("again")) is None

    async def test_loading_twice_changes_nothing(self, open_log: OpenSendLog) -> None:
        before = open_log()
        await before.load([])
        before.record_start(OutboxId("handed"))
        after = open_log()
        await after.load(["handed"])
        after.record_start(OutboxId("new"))
        await after.load(["handed", "new", "kept"])
        assert [after.was_started(OutboxId(each)) for each in ("handed", "new", "kept")] == [True, True, False]
