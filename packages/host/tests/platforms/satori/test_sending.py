"""Tests elements both ways, private chats, files, and what servers refuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms.satori.content import read_content
from parlour.platforms.satori.elements import element, escape, parse
from parlour.testing.satori_platform import SatoriPlatform
from parlour.testing.satori_platform.world import BOT_ID, PLATFORM
from parlour_sdk.protocol.chain import At, Image, Plain, Quote

from .conftest import ANN, CHANNEL, Bot


@given(some.text())
def test_every_text_comes_back_from_its_elements(text: str) -> None:
    assert "".join(each.text for each in parse(escape(text))) == text
    [parsed] = parse(element("at", {"id": f"a{text}"}))
    assert parsed.attributes == {"id": f"a{text}"}


@given(some.text(alphabet="<>/=\"' abc-&;!"))
def test_no_text_breaks_the_parser(content: str) -> None:
    read_content(content, {})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<at id=\"1\" name='Ann'/> hi", [At(target="1", display="Ann"), Plain(text=" hi")]),
        ("a<br/>b<p>c</p>", [Plain(text="a\nbc\n")]),
        ("<b>a</b> <i>b", [Plain(text="a b")]),
        ('<a href="https://x.example">x</a>', [Plain(text="x (https://x.example)")]),
        ("1 < 2 &amp; 3 > 2", [Plain(text="1 < 2 & 3 > 2")]),
        ('<quote id="7"><author id="1" name="Ann"/>old</quote>new',
         [Quote(id="7", sender="1", name="Ann", origin=[Plain(text="old")]), Plain(text="new")]),
        ('<img src="https://x.example/a.png" no-cache/>', [Image(url="https://x.example/a.png")]),
    ],
)  # fmt: skip
def test_elements_become_components(content: str, expected: list[Any]) -> None:
    assert read_content(content, {}) == expected


async def test_texts_never_become_elements(bot: Bot) -> None:
    await bot.api.send_message("group", CHANNEL, [Plain(text='<at type="all"/> & "x"')])
    [sent] = bot.platform.sent(CHANNEL)
    assert sent.content == "&lt;at type=&quot;all&quot;/&gt; &amp; &quot;x&quot;"


async def test_a_private_chat_has_the_id_of_its_user(bot: Bot) -> None:
    direct = bot.platform.world.direct(ANN)
    await bot.api.send_message("private", ANN, [Plain(text="by look-up")])
    await bot.platform.say(direct, ANN, "hello")
    await bot.heard("hello")
    event: Any = bot.link.incoming[-1].event
    assert (event.chat_type, event.chat_id) == ("private", ANN)
    await bot.api.send_message("private", ANN, [Plain(text="by event")])
    assert bot.platform.texts(direct) == ["by look-up", "by event"]
    assert [name for name, _ in bot.platform.made].count("user.channel.create") == 1


async def test_files_of_the_server_are_fetched_through_it(bot: Bot) -> None:
    bot.platform.files["a b.png"] = b"picture"
    content = f'<img src="internal:{PLATFORM}/{BOT_ID}/a b.png"/><img src="internal:{PLATFORM}/{BOT_ID}/gone"/>'
    await bot.platform.say(CHANNEL, ANN, content)
    [incoming] = await bot.link.events(1)
    _, picture, missing = incoming.event.message_chain  # type: ignore[attr-defined]
    assert (picture.type, picture.base64, picture.mime_type) == ("Image", "cGljdHVyZQ==", "image/png")
    assert missing.type == "Unknown"


async def test_large_files_are_uploaded_and_shown_by_their_address(bot: Bot) -> None:
    large = Image(base64="A" * 2_000_000, name="large.png", mime_type="image/png")
    await bot.api.send_message("group", CHANNEL, [large])
    [sent] = bot.platform.sent(CHANNEL)
    assert sent.content.startswith(f'<img src="internal:{PLATFORM}/{BOT_ID}/_tmp/')
    await bot.platform.say(CHANNEL, ANN, sent.content)
    [incoming] = await bot.link.events(1)
    assert incoming.event.message_chain[1].size == 1_500_000  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [(403, "muted", PlatformRefused), (404, "no", PlatformRefused), (500, "broken", PlatformUncertain)],
)
async def test_refusals_have_the_words_of_the_server(
    bot: Bot, status: int, message: str, kind: type[Exception]
) -> None:
    bot.platform.faults.refuse("message.create", status, message)
    with pytest.raises(kind, match=message):
        await bot.api.send_message("group", CHANNEL, [Plain(text="x")])


async def test_an_account_that_is_offline_sends_nothing(platform: SatoriPlatform, endpoint: str) -> None:
    platform.logins.clear()
    async with Bot(platform, endpoint).served() as bot:
        with pytest.raises(PlatformOffline, match="not online"):
            await bot.api.send_message("group", CHANNEL, [Plain(text="x")])


async def test_a_method_that_the_server_lacks_is_named(bot: Bot) -> None:
    with pytest.raises(PlatformRefused, match=r"internal/\.\.\.|does not serve|refused") as refused:
        await bot.api.get_user_info("nobody")
    assert refused.value.permanent
    assert await bot.api.call_platform_api("internal", {"method": "poke", "params": {"a": 1}}) == {"echo": {"a": 1}}
