"""Measures whether a message costs as much in a large conversation and a large database as in small ones."""

from dataclasses import dataclass

from parlour.core.system import SystemIds

from .clients import HttpLane
from .databases import Database, Statement
from .report import Figure, Target
from .samples import percentile

YOUNG_MESSAGES = 20
"""Messages after which a young conversation is replaced by a new one."""
RATIO = 1.25


@dataclass(frozen=True, slots=True)
class Size:
    aged: int
    """Messages in the large conversation before it is measured."""
    compared: int
    items: int
    """Transcript items that are then written to it."""


async def measure(lane: HttpLane, database: Database, size: Size) -> list[Figure]:
    """Measures old and new conversations alternately, before and after the transcript is filled."""
    for _ in range(size.aged):
        await lane.say()
    old_times, young_times = await _in_turns(lane, size.compared, "before")
    last = size.aged + size.compared
    figures = [
        _ratio(f"messages {size.aged} to {last} by the first {YOUNG_MESSAGES}", old_times, young_times),
    ]
    await fill(database, "grown", size.items)
    old_after, young_after = await _in_turns(lane, size.compared, "after")
    title = f"after {size.items:,} more items in it"
    figures.append(_ratio(f"{title}, by first messages", old_after, young_after))
    note = "first messages of other conversations, both times; the machine's drift is in it"
    drift = percentile(young_after, 50) / percentile(young_times, 50)
    figures.append(Figure("any message then, by before", drift, "times", None, note))
    await lane.close()
    return figures


async def _in_turns(lane: HttpLane, count: int, name: str) -> tuple[list[float], list[float]]:
    old_times, young_times = [], []
    for number in range(count):
        chat = f"young-{name}-{number // YOUNG_MESSAGES}"
        if number % YOUNG_MESSAGES == 0:
            await lane.say(chat)  # the first message creates the conversation
        old_times.append(await lane.say())
        young_times.append(await lane.say(chat))
    return old_times, young_times


def _ratio(name: str, old_times: list[float], young_times: list[float]) -> Figure:
    old_p50, young_p50 = 1000 * percentile(old_times, 50), 1000 * percentile(young_times, 50)
    return Figure(
        name, old_p50 / young_p50, "times", Target(RATIO), f"p50 {old_p50:.2f} ms and {young_p50:.2f} ms, in turns"
    )


async def fill(database: Database, chat: str, count: int) -> None:
    """Writes copies of its last item to a conversation, bypassing the Host, in one transaction."""
    ids = SystemIds()
    [conversation] = await database.rows("SELECT * FROM conversations WHERE chat = ? AND source = 'api'", chat)
    conversation_id, last = conversation["conversation_id"], conversation["transcript_seq"]
    pattern = "SELECT * FROM transcript WHERE conversation_id = ? AND seq = ?"
    [item] = await database.rows(pattern, conversation_id, last)
    item |= {"role": "user", "content": "filling", "event_id": "", "run_id": "", "event_seq": 0}
    insert = f"INSERT INTO transcript ({', '.join(item)}) VALUES ({', '.join('?' * len(item))})"
    copies = ({**item, "transcript_id": ids.new(), "seq": last + number} for number in range(1, count + 1))
    statements: list[Statement] = [(insert, tuple(copy.values())) for copy in copies]
    grow = "UPDATE conversations SET transcript_seq = ? WHERE conversation_id = ?"
    await database.write([*statements, (grow, (last + count, conversation_id))])
