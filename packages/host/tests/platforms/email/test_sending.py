"""Tests answers and new mails: threads, recipients, keys, files, copies, and what servers refuse."""

from typing import Any

import pytest

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.testing.email_simulator import EmailSimulator
from parlour.testing.email_simulator.simulator import UNKNOWN_DOMAIN
from parlour.testing.email_simulator.world import BOT_ADDRESS
from parlour_sdk.protocol.chain import File, Plain, Platform, Quote

from .conftest import ANN, Bot

BOB = "bob@people.example"
HELLO = "aGVsbG8="


async def test_an_answer_is_in_the_thread_of_its_question(bot: Bot, simulator: EmailSimulator) -> None:
    await simulator.say(ANN, "question", Subject="Grüße", Message_ID="<q1@people.example>")
    asked = await bot.heard("question")
    assert asked.thread_id == "q1@people.example"
    sent = await bot.api.send_message("private", ANN, [Plain(text="answer")], "key", asked.thread_id)
    [mail] = simulator.sent(ANN)
    assert mail.message["In-Reply-To"] == mail.message["References"] == "<q1@people.example>"
    assert mail.message["Auto-Submitted"] == "auto-replied"
    assert sent.message_id == mail.message_id
    await simulator.say(ANN, "and then?", In_Reply_To=f"<{mail.message_id}>", Subject="Re: Grüße")
    assert (await bot.heard("and then?")).thread_id == asked.thread_id


async def test_a_restarted_host_answers_in_the_thread(simulator: EmailSimulator, account: dict[str, Any]) -> None:
    async with Bot(simulator, account).served() as first:
        await simulator.say(ANN, "question", Subject="Topic", Message_ID="<q1@people.example>")
        await first.heard("question")
        await first.api.send_message("private", ANN, [Plain(text="one")], "key 1", "q1@people.example")
    async with Bot(simulator, account, first.link.stored_cursor).served() as bot:
        await bot.api.send_message("private", ANN, [Plain(text="two")], "key 2", "q1@people.example")
        answer = simulator.sent(ANN)[-1]
        assert (answer.message["Subject"], answer.message["In-Reply-To"]) == ("Re: Topic", "<q1@people.example>")
        await simulator.say(ANN, "to the first", In_Reply_To=f"<{simulator.sent(ANN)[0].message_id}>")
        assert (await bot.heard("to the first")).thread_id == "q1@people.example"


async def test_a_reply_without_references_joins_by_its_subject(bot: Bot, simulator: EmailSimulator) -> None:
    await simulator.say(ANN, "question", Subject="Holiday plan", Message_ID="<q1@people.example>")
    await simulator.say(BOB, "other", Subject="Holiday plan", Message_ID="<q2@people.example>")
    await simulator.say(ANN, "more", Subject="回复：Holiday plan")
    await simulator.say(BOB, "new", Subject="Holiday")
    assert (await bot.heard("more")).thread_id == "q1@people.example"
    assert (await bot.heard("new")).thread_id.startswith("mail-")


@pytest.mark.parametrize(("reply_all", "recipients"), [(False, [ANN]), (True, [ANN, BOB])])
async def test_an_answer_to_several_people_goes_to_the_author_unless_all_are_wanted(
    simulator: EmailSimulator, account: dict[str, Any], reply_all: bool, recipients: list[str]
) -> None:
    async with Bot(simulator, {**account, "reply_all": reply_all}).served() as bot:
        await simulator.say(ANN, "hello all", to=f"{BOT_ADDRESS}, Bob <{BOB}>")
        asked = await bot.heard("hello all")
        assert (asked.event.chat_type, asked.event.chat_id) == ("group", f"{ANN},{BOB}")
        await bot.api.send_message("group", asked.event.chat_id, [Plain(text="answer")], "key", asked.thread_id)
    assert simulator.sent()[0].recipients == recipients


async def test_a_mail_under_the_same_key_has_the_same_id_and_is_found(bot: Bot, simulator: EmailSimulator) -> None:
    for _ in range(2):
        await bot.api.send_message("private", ANN, [Plain(text="once")], "key")
    first, second = simulator.sent(ANN)
    assert first.message_id == second.message_id
    chain = [Plain(text="once")]

    async def is_known(message_id: str) -> bool:
        return False

    found = await bot.api.find_message("private", ANN, chain, "key", is_known)
    assert found is not None
    assert found.message_id == first.message_id
    assert await bot.api.find_message("private", ANN, chain, "another key", is_known) is None


async def test_a_mail_of_any_length_is_one_mail_with_text_and_html(bot: Bot, simulator: EmailSimulator) -> None:
    text = "# Title\n\n" + "A **bold** line with ünïcode and <b>no tags</b>.\n" * 5000
    await bot.api.send_message("private", ANN, [Plain(text=text)], "key")
    [mail] = simulator.sent(ANN)
    assert mail.text == text.strip()
    [html] = [part for part in mail.message.walk() if part.get_content_type() == "text/html"]
    content = html.get_payload(decode=True).decode()  # type: ignore[union-attr]
    assert "<b>bold</b>" in content
    assert "&lt;b&gt;no tags" in content


async def test_a_subject_can_be_given_and_takes_no_further_headers(bot: Bot, simulator: EmailSimulator) -> None:
    subject = Platform(platform="email", component_type="mail", data={"subject": "Report\r\nBcc: eve@people.example"})
    await bot.api.send_message("private", ANN, [subject, Plain(text="text")], "key")
    [mail] = simulator.sent(ANN)
    assert mail.message["Subject"] == "Report Bcc: eve@people.example"
    assert mail.message["Bcc"] is None
    with pytest.raises(PlatformRefused, match="can't be written"):
        await bot.api.send_message("private", ANN, [Quote(id="a\r\nBcc: x@y.example"), Plain(text="text")], "key")


@pytest.mark.parametrize("target", ["", "ann", "ann@x.example>\r\nRCPT TO:<eve@x.example", "a b@x.example", "@x"])
async def test_what_is_no_address_is_refused(bot: Bot, target: str) -> None:
    with pytest.raises(PlatformRefused) as refused:
        await bot.api.send_message("private", target, [Plain(text="text")], "key")
    assert refused.value.permanent


@pytest.mark.parametrize(
    ("code", "permanent", "words"),
    [(550, True, "does not deliver"), (554, True, "spam"), (450, False, "not available"), (421, False, "no mails now")],
)
async def test_refusals_are_explained_and_temporary_ones_wait_a_minute(
    bot: Bot, simulator: EmailSimulator, code: int, permanent: bool, words: str
) -> None:
    simulator.faults.refuse(code, "5.7.1 because")
    with pytest.raises(PlatformRefused, match=words) as refused:
        await bot.api.send_message("private", ANN, [Plain(text="text")], "key")
    assert (refused.value.permanent, refused.value.retry_after) == (permanent, None if permanent else 60.0)


async def test_a_mail_whose_acceptance_is_unknown_is_uncertain(bot: Bot, simulator: EmailSimulator) -> None:
    simulator.faults.cut("DATA")
    with pytest.raises(PlatformUncertain):
        await bot.api.send_message("private", ANN, [Plain(text="text")], "key")
    assert len(simulator.sent(ANN)) == 1


async def test_a_server_that_is_away_has_certainly_sent_nothing(simulator: EmailSimulator, account: Any) -> None:
    bot = Bot(simulator, {**account, "smtp_port": 1})
    with pytest.raises(PlatformOffline):
        await bot.api.send_message("private", ANN, [Plain(text="text")], "key")


async def test_other_recipients_get_a_mail_that_one_is_refused(bot: Bot, simulator: EmailSimulator) -> None:
    both = f"{ANN},gone@{UNKNOWN_DOMAIN}"
    result = await bot.api.send_message("group", both, [Plain(text="text")], "key")
    assert list(result.raw["refused"]) == [f"gone@{UNKNOWN_DOMAIN}"]  # type: ignore[index]
    with pytest.raises(PlatformRefused, match="user unknown"):
        await bot.api.send_message("private", f"gone@{UNKNOWN_DOMAIN}", [Plain(text="text")], "key")


async def test_files_larger_than_a_mail_are_refused_with_their_size(bot: Bot) -> None:
    big = File(base64="A" * (12 * 2**20), name="a.bin")
    with pytest.raises(PlatformRefused, match=r"27\.0 MiB together"):
        await bot.api.send_message("private", ANN, [big, big, big], "key")


async def test_sent_mails_are_kept_in_the_folder_of_sent_mails(bot: Bot, simulator: EmailSimulator) -> None:
    await bot.api.send_message("private", ANN, [Plain(text="text"), File(base64=HELLO, name="a.txt")], "key")
    [copy] = simulator.world.folders["Sent"].mails
    assert copy.flags == {"\\Seen"}
    assert copy.message["Message-ID"] == simulator.sent(ANN)[0].message["Message-ID"]
