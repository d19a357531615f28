"""Secrets are taken out of what is written: those that are known, and whatever looks like one."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.core import redaction
from parlour.core.journal import Insert, Select, Unit, Update, where
from parlour.core.redaction import MASK, RedactingSecretBox, Redactor
from parlour.core.store import event_log, event_notes, ledger
from parlour.core.store.redacted_journal import RedactedJournal
from parlour.core.store.tables import RUN_EVENTS, RUNS, TRAIL
from parlour.testing import MemoryJournal

from .support import message

SECRET = 'pass"word\\4711 ü'


def test_a_known_secret_goes_in_every_way_of_writing_it() -> None:
    redactor = Redactor()
    redactor.add_secret(SECRET)
    told = [f"it was {SECRET}!", '{"error": "pass\\"word\\\\4711 \\u00fc"}', "?x=pass%22word%5C4711%20%C3%BC"]
    assert [redactor.redact(text) for text in told] == [f"it was {MASK}!", f'{{"error": "{MASK}"}}', f"?x={MASK}"]


def test_the_password_of_a_known_address_is_known_on_its_own() -> None:
    redactor = Redactor()
    redactor.add_secret("postgresql://ann:hunter2hunter2@db/parlour")
    assert redactor.redact("authentication with hunter2hunter2 failed") == f"authentication with {MASK} failed"


LOOKS = {
    "an address": ("see https://ann:pw@example.org/x", f"see https://{MASK}@example.org/x"),
    "a token in an address": ("https://abc123@example.org", f"https://{MASK}@example.org"),
    "a header": ("Authorization: Bearer abc.def", f"Authorization: Bearer {MASK}"),
    "a header in JSON": ('{"authorization": "Basic YTpi"}', f'{{"authorization": "Basic {MASK}"}}'),
    "a bearer": ("sent bearer abcdefghijklmnop", f"sent bearer {MASK}"),
    "a key": ("Incorrect API key provided: sk-abcdefghijklmnop.", f"Incorrect API key provided: {MASK}."),
    "our own key": ("parlour_ABCDEFGHIJKLMNOPQRSTUVWX-_", MASK),
    "a bot's token": ("/bot1234567:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/getMe", f"/bot{MASK}/getMe"),
    "a parameter": ("GET /x?access_token=abcd&y=1", f"GET /x?access_token={MASK}&y=1"),
    "a field": ('{"client_secret": "abcd", "name": "Ann"}', f'{{"client_secret": "{MASK}", "name": "Ann"}}'),
    "a signed token": ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", MASK),
}


@pytest.mark.parametrize(("text", "clean"), LOOKS.values(), ids=LOOKS)
def test_what_looks_secret_goes(text: str, clean: str) -> None:
    assert Redactor().redact(text) == clean


IN_JSON = {
    "a command in quotes": ({"text": 'curl -H "Authorization: Bearer $KEY" x'}, ["curl -H ", "Authorization", " x"]),
    "a header without its value": ({"text": "Authorization: "}, ["Authorization: "]),
    "a header that is an object": ({"authorization": {"scheme": "none"}}, ["none"]),
    "a header that is nothing": ({"authorization": None}, []),
    "a field": ({"client_secret": "abcd", "name": "Ann"}, ["Ann"]),
    "a key on a line of its own": ({"text": "key:\nsk-abcdefghijklmnop"}, ["key:\n"]),
}
GONE = ("$KEY", "abcd", "sk-")


@pytest.mark.parametrize(("value", "kept"), IN_JSON.values(), ids=IN_JSON)
def test_json_stays_json_and_loses_its_secrets(value: Any, kept: list[str]) -> None:
    clean = Redactor().redact_json(json.dumps(value))
    told = json.dumps(json.loads(clean), ensure_ascii=False)
    assert all(json.dumps(each)[1:-1] in told for each in kept)
    assert not any(each in told for each in GONE)


TEXTS = st.sampled_from([text for text, _ in LOOKS.values()]) | st.text('tokenAuthorization:= "\\{}[],sk-', max_size=40)
NAMES = st.sampled_from(["token", "text"])
VALUES = st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))


@given(VALUES)
def test_json_of_any_kind_keeps_its_shape(value: Any) -> None:
    assert _shape(json.loads(Redactor().redact_json(json.dumps(value)))) == _shape(value)


def _shape(value: Any) -> Any:
    match value:
        case list():
            return [_shape(each) for each in value]
        case dict():
            return {name: _shape(each) for name, each in value.items()}
    return type(value)


@given(
    st.lists(st.sampled_from([text for text, _ in LOOKS.values()]) | st.text(max_size=20), max_size=6), st.booleans()
)
def test_the_quick_look_for_signs_misses_nothing(parts: list[str], loud: bool) -> None:
    text = " ".join(parts).upper() if loud else " ".join(parts)
    assert Redactor().redact(text) == redaction.SECRET_PATTERN.sub(redaction.mask_match, text)


@pytest.mark.parametrize(
    "text",
    [
        "the run took longer than 300 s",
        "setting 'runtime.token': a url needs a token, or a token_file that holds it, not both",
        "run 01a1e21b-633f-70cc-8090-ffdce8a17153 failed: mail ann@example.org at 10:30:00",
        "token: it is too short",
        "http://127.0.0.1:5300/api/v1/runs",
    ],
)
def test_ordinary_sentences_stay(text: str) -> None:
    assert Redactor().redact(text) == text


@pytest.mark.parametrize(
    "piece", ["a.", "eyJ-", "sk-", "http://", "token ", "1234567:", "bearer ", "a", " ", "authorization "]
)
def test_a_hostile_text_takes_no_longer_than_its_length_asks_for(piece: str) -> None:
    """Twice the text takes about twice the time; what is quadratic would take four times, of seconds."""
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    Redactor().redact(text)
    assert time.process_time() - began < 5


def test_a_secret_is_known_from_the_moment_it_is_sealed_or_opened() -> None:
    class Box:
        def seal(self, secret: str) -> str:
            return secret[::-1]

        def open(self, sealed: str) -> str:
            return sealed[::-1]

    redactor = Redactor()
    box = RedactingSecretBox(Box(), redactor)
    sealed, opened = box.seal("canary-one"), box.open("owt-yranac")
    assert (sealed, opened) == ("eno-yranac", "canary-two")
    assert redactor.redact("canary-one canary-two") == f"{MASK} {MASK}"


def _run(**fields: Any) -> Insert:
    names = "run_id event_id agent_id binding_id runner_id plugin_id conversation_id thread_id workspace_id bot_id"
    texts = dict.fromkeys(names.split(), "")
    run = ledger.NewRun(**texts, event_seq=1, attempt=1, parent_run_id="", snapshot="", deadline_at=0, now=0)  # type: ignore[arg-type]
    return ledger.insert_run(run)


async def test_errors_and_trail_are_written_clean_and_peoples_own_words_as_they_are() -> None:
    redactor, inner = Redactor(), MemoryJournal()
    redactor.add_secret("canary-value")
    journal = RedactedJournal(inner, redactor)
    fail = Update(RUNS, {"error": "no canary-value", "status": "failed"}, where(run_id=""))
    failed = ledger.append_event("", 1, "run.failed", {"error": "canary-value"}, 0)
    said = ledger.append_event("", 2, "message.completed", {"message": {"content": "canary-value"}}, 0)
    event = event_log.append(message("canary-value"), "c", 0)
    await journal.commit(
        Unit("x", (event, _run(), fail, failed, said, event_notes.add_note(1, "x", {"text": "canary-value"}, 0)))
    )
    assert (await journal.read(Select(RUNS)))[0]["error"] == f"no {MASK}"
    assert [row["data"].count("canary") for row in await journal.read(Select(RUN_EVENTS, order=("sequence",)))] == [
        0,
        1,
    ]
    assert MASK in (await journal.read(Select(TRAIL)))[0]["data"]


def test_json_that_is_too_deep_to_be_read_is_cleaned_as_text() -> None:
    deep = '{"a":' * 220 + '{"password": "hunter22"}' + "}" * 220
    assert "hunter22" not in Redactor().redact_json(deep)
