"""Mentions are found at their place in a message for every way in which clients write them."""

import time

import pytest

from parlour.platforms.matrix.content import components
from parlour_sdk.protocol.chain import At, AtAll, MessageChain, Plain

OWN = "@bot:here"


def pill(user_id: str, label: str) -> str:
    return f'<a href="https://matrix.to/#/{user_id}">{label}</a>'


@pytest.mark.parametrize(
    ("body", "content", "chain"),
    [
        ("hello", {}, [Plain(text="hello")]),
        (
            "Bot: hi Ann",
            {"formatted_body": f"{pill(OWN, 'Bot')}: hi {pill('%40ann%3Ahere', 'Ann')}"},
            [At(target=OWN, display="Bot"), Plain(text=" hi "), At(target="@ann:here", display="Ann")],
        ),
        (f"hi {OWN}!", {}, [Plain(text="hi "), At(target=OWN), Plain(text="!")]),
        ("hi @ann:here", {}, [Plain(text="hi @ann:here")]),
        ("hi @ann:here", {"m.mentions": {"user_ids": ["@ann:here"]}}, [Plain(text="hi "), At(target="@ann:here")]),
        ("hi @room", {}, [Plain(text="hi @room")]),
        ("hi @room", {"m.mentions": {"room": True}}, [Plain(text="hi "), AtAll()]),
        ("other words", {"formatted_body": pill(OWN, "Bot")}, [Plain(text="other words")]),
        ("#room", {"formatted_body": pill("#room:here", "#room")}, [Plain(text="#room")]),
        ("A <B>", {"formatted_body": pill("@b:here", "<b>A</b> &lt;B&gt;")}, [At(target="@b:here", display="A <B>")]),
    ],
)
def test_mentions_stand_where_they_were_written(body: str, content: dict[str, object], chain: MessageChain) -> None:
    assert components(body, content, OWN) == chain


@pytest.mark.parametrize(
    "piece", ["<a ", "<a href=", "https://matrix.to/#/", "https://matrix.to/#/@a:b>", "</a", "@bot"]
)
def test_a_body_crafted_to_be_slow_is_parsed_quickly(piece: str) -> None:
    nasty = piece * (60_000 // len(piece))
    began = time.process_time()
    components(nasty, {"formatted_body": nasty, "m.mentions": {"user_ids": [f"@{n}:x" for n in range(1000)]}}, OWN)
    assert time.process_time() - began < 10
