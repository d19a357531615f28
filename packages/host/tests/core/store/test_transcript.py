"""The transcript of a conversation."""

from parlour.core.store.tables import CONVERSATIONS, EVENTS, TRANSCRIPT
from parlour.core.store.transcript import MAX_ITEM_BYTES

from ..support import World


async def test_items_are_numbered_per_conversation_without_gaps() -> None:
    world = await World.open(echo=True)
    for text in ("a", "b"):
        for chat in ("one", "two"):
            await world.say(text, chat=chat)
            await world.rest()
    for conversation in world.rows(CONVERSATIONS):
        items = world.rows(TRANSCRIPT, conversation_id=conversation["conversation_id"])
        numbered = sorted((item["seq"], item["role"], item["content"]) for item in items)
        assert numbered == [(1, "user", "a"), (2, "assistant", "a"), (3, "user", "b"), (4, "assistant", "b")]
        assert conversation["transcript_seq"] == 4


async def test_item_is_limited_without_cutting_a_character() -> None:
    world = await World.open(echo=True)
    text = "x" + "é" * MAX_ITEM_BYTES
    await world.say(text)
    await world.rest()
    item = world.rows(TRANSCRIPT, role="user")[0]
    assert text.startswith(item["content"])
    assert MAX_ITEM_BYTES - 2 < len(item["content"].encode()) <= MAX_ITEM_BYTES
    assert text in world.rows(EVENTS)[0]["body"]
