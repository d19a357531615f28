"""Tests reading and writing lines of IRC: tags, parameters, encodings, and that no text becomes a command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms.irc.configuration import problems
from parlour.platforms.irc.lines import format_line, parse_line, read_line, without_formatting
from parlour.platforms.irc.server_state import ServerState
from parlour.platforms.irc.settings import read_settings


def test_a_line_has_tags_source_command_and_parameters() -> None:
    line = parse_line(r"@time=now;msgid=a\:b\s\\c;+x :ann!a@h PRIVMSG #talk :hello : there")
    assert line.tags == {"time": "now", "msgid": "a;b \\c", "+x": ""}
    assert (line.nick, line.mask, line.command) == ("ann", ("a", "h"), "PRIVMSG")
    assert line.params == ("#talk", "hello : there")
    assert parse_line("PING :token").params == ("token",)
    assert parse_line(":server 005 nick A=1 B").params == ("nick", "A=1", "B")


@given(st.text(max_size=400), st.dictionaries(st.sampled_from(("label", "+draft/reply")), st.text(max_size=30)))
def test_no_text_and_no_tag_becomes_another_line(text: str, tags: dict[str, str]) -> None:
    data = format_line("PRIVMSG", "#talk", text, tags=tags)
    assert data.count(b"\n") == data.count(b"\r") == 1
    assert data.endswith(b"\r\n")
    line = parse_line(read_line(data[:-2]))
    assert (line.command, line.param(0)) == ("PRIVMSG", "#talk")
    assert line.tags == tags


@pytest.mark.parametrize("name", ["", "two words", ":colon", "line\nbreak", "null\0"])
def test_a_name_that_would_be_read_as_several_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no blanks"):
        format_line("PRIVMSG", name, "text")


def test_formatting_and_old_encodings_become_text() -> None:
    assert without_formatting("\x02bold\x02 \x0304,01red\x03 \x1fline\x0f") == "bold red line"
    assert read_line("grüße".encode("latin-1")) == "grüße"


def test_names_are_compared_as_the_server_does() -> None:
    state = ServerState("Bot[1]")
    assert state.is_own("bot{1}")
    state.learn_features(["CASEMAPPING=ascii"])
    assert not state.is_own("bot{1}")


def test_modes_take_their_parameters() -> None:
    state = ServerState("Bot")
    state.learn_features(["PREFIX=(ov)@+", "CHANMODES=b,k,l,imnt"])
    changes = state.read_modes(("+mo-b+l", "ann", "*!*@bad", "5"))
    assert changes == [(True, "m", ""), (True, "o", "ann"), (False, "b", "*!*@bad"), (True, "l", "5")]


def test_the_form_explains_what_it_does_not_accept() -> None:
    wrong = {"nick": "1 bot", "channels": ["talk"], "host": "irc://x.org"}
    assert [name for name, _ in problems(wrong)] == ["nick", "channels", "host"]
    assert problems({"nick": "Bot[1]", "channels": ["#a", "#b key"], "host": "irc.example.org"}) == []
    with pytest.raises(AdapterStopped, match="sasl_password"):
        read_settings({"host": "x", "nick": "bot", "sasl_account": "bot"})
