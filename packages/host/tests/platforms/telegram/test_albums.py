"""Pictures of an album become one message and keep their order, also with other messages between them."""

from typing import Any

from parlour.platforms.telegram import albums
from parlour.platforms.telegram.content import ALBUM


def part(number: int, chat: int = 1, group: str = "a") -> dict[str, Any]:
    message = {"message_id": number, "chat": {"id": chat}, **({"media_group_id": group} if group else {})}
    return {"update_id": number, "message": message}


def ids(update: dict[str, Any]) -> list[int]:
    message = update["message"]
    return [each["message_id"] for each in message.get(ALBUM, [message])]


def test_an_album_is_due_after_a_pause() -> None:
    gathered = albums.collect((), [part(2), part(1)], now=0)
    assert gathered.ready == []
    assert albums.complete_due(gathered.open, now=0.6).ready == []
    [album] = albums.complete_due(gathered.open, now=0.8).ready
    assert ids(album) == [1, 2]


def test_an_album_with_continuous_parts_is_due_after_a_maximum_time() -> None:
    gathered = albums.collect((), [part(1)], now=0)
    for number in range(2, 9):
        gathered = albums.collect(gathered.open, [part(number)], now=number * 0.5)
    assert len(albums.complete_due(gathered.open, now=3.1).ready) == 1


def test_a_message_after_an_album_comes_after_it() -> None:
    gathered = albums.collect((), [part(1), part(2), part(3, group=""), part(4, group="b"), part(5, chat=2)], now=0)
    assert [ids(each) for each in gathered.ready] == [[1, 2], [3]]
    assert len(gathered.open) == 2


def test_the_tenth_part_completes_an_album_and_a_repeated_one_does_not_count() -> None:
    gathered = albums.collect((), [part(1), *(part(number) for number in range(1, 11))], now=0)
    assert [ids(each) for each in gathered.ready] == [list(range(1, 11))]
    assert gathered.open == ()


def test_an_album_is_restored_from_its_pending_updates() -> None:
    gathered = albums.collect((), [part(1), part(2)], now=0)
    again = albums.collect((), albums.pending_updates(gathered.open), now=100)
    [album] = albums.complete_due(again.open, now=200).ready
    assert ids(album) == [1, 2]
