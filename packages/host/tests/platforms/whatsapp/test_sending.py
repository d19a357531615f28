"""Tests what is sent to WhatsApp: texts in its signs, files, buttons and lists, templates, and refusals in words."""

import base64
from typing import Any

import pytest

from parlour.core.platforms.port import (
    FileContent,
    PlatformRefused,
    PlatformUncertain,
    ReplyHandleRejected,
)
from parlour.platforms.whatsapp.encode import from_markdown
from parlour_sdk.protocol.chain import At, File, Image, Plain, Platform, Quote, Voice

from .conftest import Bot

HELLO = base64.b64encode(b"hello").decode()


def buttons(*row: Any) -> Platform:
    return Platform(platform="whatsapp", component_type="buttons", data={"buttons": list(row)})


@pytest.fixture
async def ann(bot: Bot) -> str:
    """Lets a user write, so that the window of the chat is open."""
    user = bot.simulator.world.add_user("Ann")
    await bot.simulator.say("hi", user)
    return user


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("`a < b & c`", "`a < b & c`"),
        ("```python\nprint(1)\n```", "```\nprint(1)\n```"),
        ("see [the page](https://x.io/?a=1&b=2)", "see the page (https://x.io/?a=1&b=2)"),
        ("<https://x.io/?a=1&b=2>", "https://x.io/?a=1&b=2"),
        ("> quoted", "> quoted"),
        ("5 * 3 < 16 & so on", "5 * 3 < 16 & so on"),
    ],
)
def test_markdown_becomes_the_signs_of_whatsapp(markdown: str, shown: str) -> None:
    assert from_markdown(markdown) == shown


async def test_a_message_without_an_answer_is_found_by_its_report(bot: Bot, ann: str) -> None:
    bot.simulator.faults.cut("messages")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("private", ann, [Plain(text="once")], "a-key")
    found = await bot.api.find_message("private", ann, [Plain(text="once")], "a-key", _is_unknown)
    [shown] = bot.simulator.sent()
    assert found is not None
    assert found.message_id == shown.message_id


async def test_an_attempt_after_a_cut_continues_behind_the_parts_that_were_reported(
    bot: Bot, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parlour.platforms.whatsapp.api.REPORT_SECONDS", 0.05)
    chain = [Plain(text="one"), Image(base64=HELLO, mime_type="image/png"), Plain(text="three")]
    bot.simulator.faults.planned.append(_cut_after(1))
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("private", ann, chain, "a-key")
    assert await bot.api.find_message("private", ann, chain, "a-key", _is_unknown) is None
    sent = await bot.api.send_message("private", ann, chain, "a-key")
    assert [each.kind for each in bot.simulator.sent()] == ["text", "image", "text"]
    assert sent.message_id == bot.simulator.sent()[0].message_id


async def test_files_are_uploaded_as_what_whatsapp_can_show(bot: Bot, ann: str) -> None:
    bot.link.files["art"] = FileContent(b"picture", "a.png", "image/png")
    media = [
        Image(artifact_id="art"),
        Image(base64=HELLO, name="a.gif", mime_type="image/gif"),
        Voice(base64=HELLO, mime_type="audio/ogg"),
        Voice(base64=HELLO, name="a.wav", mime_type="audio/x-wav"),
        File(base64=HELLO, name="a.pdf"),
        File(url="https://example.com/b.pdf", name="b.pdf"),
        Image(url="https://example.com/b.png"),
    ]
    await bot.api.send_message("private", ann, list(media))
    sent = bot.simulator.sent()
    assert [each.kind for each in sent] == ["image", "document", "audio", "document", "document", "document", "image"]
    assert sent[0].content == b"picture"
    assert [each.payload[each.kind].get("filename") for each in sent[3:6]] == ["a.wav", "a.pdf", "b.pdf"]
    assert sent[5].payload["document"]["link"] == "https://example.com/b.pdf"


async def test_up_to_three_buttons_are_shown_below_the_text_and_return_their_value(bot: Bot, ann: str) -> None:
    row = [{"label": "Yes", "action_id": "approval", "value": {"yes": 1}}, {"label": "No", "action_id": "no"}]
    sent = await bot.api.send_message("private", ann, [Plain(text="sure?"), buttons(*row)])
    [asked] = bot.simulator.sent()
    assert (asked.text, asked.payload["interactive"]["type"]) == ("sure?", "button")
    await bot.simulator.press(asked, "Yes", ann)
    _, pressed = await bot.link.events(2)
    assert (pressed.event.action_id, pressed.event.value) == ("approval", {"yes": 1})  # type: ignore[attr-defined]
    assert pressed.event.message_id == sent.message_id  # type: ignore[attr-defined]


async def test_more_buttons_are_rows_of_a_list(bot: Bot, ann: str) -> None:
    row = [{"label": f"choice {number}", "action_id": f"c{number}"} for number in range(10)]
    await bot.api.send_message("private", ann, [Plain(text="which?"), buttons(*row)])
    [asked] = bot.simulator.sent()
    assert asked.payload["interactive"]["type"] == "list"
    await bot.simulator.press(asked, "choice 7", ann)
    _, pressed = await bot.link.events(2)
    assert pressed.event.action_id == "c7"  # type: ignore[attr-defined]


async def test_buttons_of_a_long_text_are_a_message_of_their_own(bot: Bot, ann: str) -> None:
    sent = await bot.api.send_message("private", ann, [Plain(text="x" * 2000), buttons({"label": "Go"})])
    text, asked = bot.simulator.sent()
    assert (len(text.text), asked.text) == (2000, "…")
    assert sent.message_id == asked.message_id


async def test_an_address_is_one_button_or_a_line_of_text(bot: Bot, ann: str) -> None:
    link = {"label": "More", "url": "https://x.io"}
    await bot.api.send_message("private", ann, [Plain(text="read"), buttons(link)])
    await bot.api.send_message("private", ann, [Plain(text="read"), buttons(link, {"label": "Go"})])
    alone, beside = bot.simulator.sent()
    assert alone.payload["interactive"]["action"]["parameters"]["url"] == "https://x.io"
    assert beside.text == "read\nMore: https://x.io"


async def test_mentions_are_text_and_a_quote_names_its_message(bot: Bot, ann: str) -> None:
    question = await bot.simulator.say("question", ann)
    await bot.api.send_message(
        "private", ann, [Quote(id=question["id"]), At(target=ann, display="Ann"), Plain(text="yes")]
    )
    [answer] = bot.simulator.sent()
    assert answer.text == "@Ann yes"
    assert answer.payload["context"] == {"message_id": question["id"]}


async def test_a_closed_window_is_refused_in_words_and_a_template_is_accepted(bot: Bot) -> None:
    bot.simulator.closes_by_report = False
    bot.simulator.world.templates.add(("news", "en"))
    bob = bot.simulator.world.add_user("Bob")
    with pytest.raises(ReplyHandleRejected, match="within 24 hours") as refused:
        await bot.api.send_message("private", bob, [Plain(text="hello")])
    assert refused.value.permanent
    await bot.api.call_platform_api("send_template", {"to": bob, "name": "news", "language": "en"})
    assert bot.simulator.texts(bob) == ["[template news]"]


async def test_a_user_without_a_visible_number_is_written_to_by_the_other_id(bot: Bot, ann: str) -> None:
    await bot.api.send_message("private", f"DE.{ann}", [Plain(text="hello")])
    [sent] = bot.simulator.sent(ann)
    assert sent.payload["recipient"] == f"DE.{ann}"


async def test_typing_is_shown_below_the_last_message_of_the_chat(bot: Bot, ann: str) -> None:
    await bot.api.send_typing("private", ann)
    assert bot.simulator.world.typing == [ann]
    with pytest.raises(PlatformRefused, match="only as an answer"):
        await bot.api.send_typing("private", "404")


@pytest.mark.parametrize(
    ("code", "wait", "is_for_all"),
    [(131056, 6.0, False), (130429, 5.0, True), (80007, 5.0, True), (131016, 1.0, False)],
)
async def test_rates_and_pauses_of_whatsapp_are_retried_later(
    bot: Bot, ann: str, code: int, wait: float, is_for_all: bool
) -> None:
    bot.simulator.faults.refuse("messages", code, "not now")
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", ann, [Plain(text="one")])
    assert (refused.value.retry_after, refused.value.account_wide) == (wait, is_for_all)
    assert not refused.value.permanent


@pytest.mark.parametrize(
    ("chain", "reason"),
    [
        ([], "nothing in this message"),
        ([Plain(text="x"), buttons(*({"label": str(n)} for n in range(11)))], "10 buttons"),
        ([Plain(text="x"), buttons({"label": "x", "value": "v" * 201})], "200 bytes"),
        ([Image(path="/etc/passwd")], "path of the Host's machine"),
    ],
)
async def test_what_whatsapp_would_refuse_is_explained(bot: Bot, ann: str, chain: Any, reason: str) -> None:
    with pytest.raises(PlatformRefused, match=reason) as refused:
        await bot.api.send_message("private", ann, chain)
    assert refused.value.permanent


async def test_a_file_is_fetched_only_over_tls_or_from_the_configured_server(bot: Bot, ann: str) -> None:
    media_id = bot.simulator.world.add_media(b"x" * (21 * 1024 * 1024), "image/jpeg")
    await bot.simulator.post(bot.simulator.message(ann, type="image", image={"id": media_id}))
    bot.simulator.address = "http://files.example.org"
    await bot.simulator.send_file("image", b"hello", "image/jpeg", ann)
    _, large, foreign = await bot.link.events(3)
    assert "21 MiB" in large.event.message_chain[1].text  # type: ignore[attr-defined]
    assert "not protected by TLS" in foreign.event.message_chain[1].text  # type: ignore[attr-defined]


def _cut_after(skip: int) -> Any:
    from parlour.testing.simulator.faults import PlannedFault

    return PlannedFault("messages", answers=False, cuts=True, skip=skip)


async def _is_unknown(message_id: str) -> bool:
    return False
