"""Tests which mails are answered, who counts as proven, and what of a mail is its own text."""

import base64
from email.message import EmailMessage
from typing import Any

import pytest

from parlour.platforms.email.body import read_body, split_quote
from parlour.platforms.email.configuration import problems
from parlour.platforms.email.decode import parse
from parlour.platforms.email.html_text import html_to_text
from parlour.testing.email_simulator import EmailSimulator
from parlour.testing.email_simulator.simulator import AUTHSERV_ID
from parlour.testing.email_simulator.world import BOT_ADDRESS

from .conftest import ANN, Bot


@pytest.mark.parametrize(
    "fields",
    [
        {"Auto_Submitted": "auto-replied (vacation)"},
        {"Precedence": "bulk"},
        {"X_Auto_Response_Suppress": "All"},
        {"List_Id": "<users.example>"},
        {"List_Unsubscribe": "<mailto:leave@people.example>"},
        {"Return_Path": "<>"},
        {"From": "MAILER-DAEMON@people.example"},
        {"From": "Shop <no-reply@people.example>"},
        {"X_Parlour_Bot": "1"},
        {"X_Loop": "bot"},
    ],
)
async def test_mails_of_machines_are_never_answered(
    bot: Bot, simulator: EmailSimulator, fields: dict[str, str]
) -> None:
    await simulator.say(ANN, "automatic", **fields)
    await simulator.say(ANN, "a person")
    await bot.heard("a person")
    assert [each.event.type for each in bot.link.incoming] == ["platform.email.auto", "message.received"]


async def test_senders_that_are_not_allowed_and_other_subjects_are_refused(
    simulator: EmailSimulator, account: dict[str, Any]
) -> None:
    config = {**account, "allowed_senders": ["ANN@people.example", "@friends.example"], "subject_tag": "bot"}
    async with Bot(simulator, config).served() as bot:
        await simulator.say("eve@people.example", "no", Subject="[bot] x")
        await simulator.say("eve@evil-friends.example", "no", Subject="[bot] x")
        await simulator.say(ANN, "no", Subject="bot")
        await simulator.say("joe@friends.example", "yes", Subject="Re: [BOT] x")
        await bot.heard("yes")
    assert [each.event.type for each in bot.link.incoming] == ["platform.email.refused"] * 3 + ["message.received"]


async def test_a_sender_beyond_the_hourly_limit_is_not_answered(
    simulator: EmailSimulator, account: dict[str, Any]
) -> None:
    async with Bot(simulator, {**account, "hourly_limit": 2}).served() as bot:
        for number in range(4):
            await simulator.say(ANN, f"mail {number}")
        await simulator.say("bob@people.example", "of another")
        await bot.heard("of another")
    kinds = [each.event.type for each in bot.link.incoming]
    assert kinds == ["message.received"] * 2 + ["platform.email.limited"] * 2 + ["message.received"]


@pytest.mark.parametrize(
    ("results", "is_proven"),
    [
        (f"{AUTHSERV_ID}; dmarc=pass (p=reject) header.from=people.example", True),
        (f"{AUTHSERV_ID}; dkim=pass header.d=people.example; spf=fail smtp.mailfrom=x@y.example", True),
        (f"{AUTHSERV_ID}; dkim=fail header.d=a.example; dkim=pass header.d=people.example", True),
        (f"{AUTHSERV_ID} 1; spf=pass smtp.mailfrom=ann@people.example", True),
        (f"{AUTHSERV_ID}; dkim=pass header.d=evil.example; spf=pass smtp.mailfrom=x@evil.example", False),
        (f"{AUTHSERV_ID}; spf=pass smtp.mailfrom=ann@evilpeople.example", False),
        (f"{AUTHSERV_ID}; dmarc=fail header.from=people.example", False),
        ("mx.evil.example; dmarc=pass header.from=people.example", False),
        (f"{AUTHSERV_ID}; none (dmarc=pass)", False),
        ("", False),
    ],
)
async def test_only_results_of_the_own_server_prove_a_sender(
    bot: Bot, simulator: EmailSimulator, results: str, is_proven: bool
) -> None:
    await simulator.say(ANN, "who am I", Authentication_Results=results)
    incoming = await bot.heard("who am I")
    assert incoming.event.sender.id == (ANN if is_proven else f"unproven:{ANN}")
    assert incoming.event.chat_id == ANN


async def test_a_forged_result_below_that_of_the_server_does_not_count(bot: Bot, simulator: EmailSimulator) -> None:
    mail = simulator.mail(ANN, "forged", Authentication_Results=f"{AUTHSERV_ID}; dmarc=fail")
    mail["Authentication-Results"] = f"{AUTHSERV_ID}; dmarc=pass"
    await simulator.deliver(mail)
    assert (await bot.heard("forged")).event.sender.id == f"unproven:{ANN}"


async def test_the_bot_is_addressed_by_to_but_not_by_a_copy(bot: Bot, simulator: EmailSimulator) -> None:
    await simulator.say(ANN, "direct", to=f"{BOT_ADDRESS}, bob@people.example")
    await simulator.say(ANN, "copied", to="bob@people.example", Cc=BOT_ADDRESS)
    await simulator.say(ANN, "hidden", to=ANN)
    assert (await bot.heard("direct")).addresses_bot
    assert not (await bot.heard("copied")).addresses_bot
    hidden = await bot.heard("hidden")
    assert (hidden.event.chat_type, hidden.addresses_bot) == ("private", True)


@pytest.mark.parametrize(
    ("text", "own", "quoted"),
    [
        ("Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Bot <bot@x.example> wrote:\n> Really?\n>\n", "Yes.", "On Mon"),
        ("Yes.\n\nOn Mon, 3 Mar 2025 at 10:00, Bot\n<bot@x.example> wrote:\n\n> Really?", "Yes.", "On Mon"),
        ("Ja.\n\nAm 03.03.2025 um 10:00 schrieb Bot:\n> Wirklich?", "Ja.", "Am 03"),
        ("好的\n\n在 2025年3月3日，Bot <bot@x.example> 写道：\n> 真的吗？", "好的", "在 2025"),
        ("Ok\n\n-----Original Message-----\nFrom: Bot\nSent: Monday\n\nReally?", "Ok", "-----Original"),
        ("Ok\n\nFrom: Bot <bot@x.example>\nSent: Monday\nTo: Ann\n\nReally?", "Ok", "From: Bot"),
        ("好\n\n发件人: Bot\n发送时间: 2025\n\n真的吗", "好", "发件人"),
        ("Yes.\n\n-- \nAnn\nCompany", "Yes.", ""),
        (
            "> Really?\nYes, and > is no quote here\nFrom now on",
            "> Really?\nYes, and > is no quote here\nFrom now on",
            "",
        ),
        ("> only a quote", "> only a quote", ""),
        ("approve ab12\n\n> approve or deny?", "approve ab12", "> approve or deny?"),
    ],
)
def test_the_own_text_is_separated_from_quote_and_signature(text: str, own: str, quoted: str) -> None:
    found = split_quote(text)
    assert found[0] == own
    assert found[1].startswith(quoted)
    assert bool(found[1]) == bool(quoted)


def test_html_becomes_text_with_links_and_quotes() -> None:
    html = (
        "<head><title>no</title><style>p{}</style></head><p>Hello&nbsp;<b>Ann</b>,</p><div>see <a href='https://x.example/a'>"
        "this</a><br>and <a href='https://y.example'>https://y.example</a></div><script>alert(1)</script><ul><li>one<li>two</ul>"
        "<blockquote><p>old</p><p>older</p></blockquote><img src='https://spy.example/a.gif'>"
    )
    expected = "Hello Ann,\nsee this (https://x.example/a)\nand https://y.example\n- one\n- two\n> old\n> older"
    assert html_to_text(html) == expected


def test_embedded_pictures_are_in_their_places_and_alternatives_are_read_once() -> None:
    mail = EmailMessage()
    mail.set_content("<p>before</p><img src='cid:one'><p>after</p>", subtype="html")
    mail.add_related(b"picture", "image", "png", cid="<one>", filename="a.png")
    kinds = [part.type for part in read_body(parse(mail.as_bytes())).components]
    assert kinds == ["Plain", "Image", "Plain"]
    both = EmailMessage()
    both.set_content("plain")
    both.add_alternative("<p>html</p>", subtype="html")
    both.add_attachment(b"x", "audio", "ogg", filename="a.ogg")
    assert [part.type for part in read_body(parse(both.as_bytes())).components] == ["Plain", "Voice"]


def test_charsets_are_read_as_they_are_meant() -> None:
    body = "你好，镕".encode("gb18030")
    raw = b"From: a@b.example\r\nContent-Type: text/plain; charset=gb2312\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    [plain] = read_body(parse(raw + base64.b64encode(body))).components
    assert plain.text == "你好，镕"  # type: ignore[union-attr]
    odd = b"From: a@b.example\r\nContent-Type: text/plain; charset=no-such\r\n\r\nhi \xff"
    assert read_body(parse(odd)).components[0].type == "Plain"


def test_deeply_nested_parts_are_no_crash() -> None:
    head = b"From: a@b.example\r\n"
    for number in range(1500):
        head += f'Content-Type: multipart/mixed; boundary="b{number}"\r\n\r\n--b{number}\r\n'.encode()
    message = parse(head)
    assert message["From"] == "a@b.example"
    assert all(part.type in ("Plain", "File", "Unknown") for part in read_body(message).components)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"address": "nobody"}, "address"),
        ({"allowed_senders": []}, "allowed_senders"),
        ({"allowed_senders": ["people.example"]}, "allowed_senders"),
        ({"imap_security": "none"}, "imap_security"),
        ({"smtp_host": "smtp.example.com/x"}, "smtp_host"),
        ({"subject_tag": "[bot]"}, "subject_tag"),
    ],
)
def test_a_configuration_is_checked_before_it_is_saved(change: dict[str, Any], field: str) -> None:
    config = {
        "address": "bot@x.example", "imap_host": "imap.x.example", "smtp_host": "smtp.x.example",
        "allowed_senders": ["@x.example"],
    }  # fmt: skip
    assert problems(config) == []
    assert [name for name, _ in problems({**config, **change})] == [field]


async def test_an_id_of_a_mail_with_special_characters_becomes_a_plain_one(bot: Bot, simulator: EmailSimulator) -> None:
    await simulator.say(ANN, "odd", Message_ID="<a/b?c#d%e@people.example>")
    await simulator.say(ANN, "plain", Message_ID="<CAF+x_y=z@people.example>")
    odd, plain = await bot.heard("odd"), await bot.heard("plain")
    assert odd.event.event_id.isalnum()
    assert odd.event.message_id == "a/b?c#d%e@people.example"
    assert plain.event.event_id == "CAF+x_y=z@people.example"
