"""Known secrets and texts that look like secrets are removed from written data."""

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


def test_known_secret_is_masked_in_each_encoding() -> None:
    redactor = Redactor()
    redactor.add_secret(SECRET)
    texts = [f"it was {SECRET}!", '{"error": "pass\\"word\\\\4711 \\u00fc"}', "?x=pass%22word%5C4711%20%C3%BC"]
    assert [redactor.redact(text) for text in texts] == [f"it was {MASK}!", f'{{"error": "{MASK}"}}', f"?x={MASK}"]


def test_password_of_a_known_url_is_masked_by_itself() -> None:
    redactor = Redactor()
    redactor.add_secret("postgresql://ann:hunter2hunter2@db/parlour")
    assert redactor.redact("authentication with hunter2hunter2 failed") == f"authentication with {MASK} failed"


PATTERN_EXAMPLES = {
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


@pytest.mark.parametrize(("text", "clean"), PATTERN_EXAMPLES.values(), ids=PATTERN_EXAMPLES)
def test_text_that_looks_like_a_secret_is_masked(text: str, clean: str) -> None:
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
def test_redacted_json_stays_valid_without_its_secrets(value: Any, kept: list[str]) -> None:
    clean = Redactor().redact_json(json.dumps(value))
    redacted = json.dumps(json.loads(clean), ensure_ascii=False)
    assert all(json.dumps(each)[1:-1] in redacted for each in kept)
    assert not any(each in redacted for each in GONE)


TEXTS = st.sampled_from([text for text, _ in PATTERN_EXAMPLES.values()]) | st.text(
    'tokenAuthorization:= "\\{}[],sk-', max_size=40
)
NAMES = st.sampled_from(["token", "text"])
VALUES = st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))


@given(VALUES)
def test_redacted_json_keeps_its_shape(value: Any) -> None:
    assert _shape(json.loads(Redactor().redact_json(json.dumps(value)))) == _shape(value)


def _shape(value: Any) -> Any:
    match value:
        case list():
            return [_shape(each) for each in value]
        case dict():
            return {name: _shape(each) for name, each in value.items()}
    return type(value)


@given(
    st.lists(st.sampled_from([text for text, _ in PATTERN_EXAMPLES.values()]) | st.text(max_size=20), max_size=6),
    st.booleans(),
)
def test_fast_path_finds_every_pattern(parts: list[str], uppercase: bool) -> None:
    text = " ".join(parts).upper() if uppercase else " ".join(parts)
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
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert Redactor().redact(text) == text


@pytest.mark.parametrize(
    "piece", ["a.", "eyJ-", "sk-", "http://", "token ", "1234567:", "bearer ", "a", " ", "authorization "]
)
def test_redaction_time_is_linear_for_hostile_text(piece: str) -> None:
    """The time grows linearly with the text; quadratic patterns would take minutes."""
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    Redactor().redact(text)
    assert time.process_time() - started < 5


def test_sealed_and_opened_secrets_are_known() -> None:
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


async def test_errors_and_trail_are_redacted_and_messages_unchanged() -> None:
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


def test_repeated_text_is_redacted_again_when_a_secret_becomes_known() -> None:
    redactor, text = Redactor(), '{"a": "the canary-value, and the key sk-abcdefghijklmnop"}'
    first = redactor.redact_repeated_json(text)
    assert redactor.redact_repeated_json(text) == first == f'{{"a":"the canary-value, and the key {MASK}"}}'
    redactor.add_secret("canary-value")
    assert redactor.redact_repeated_json(text) == f'{{"a":"the {MASK}, and the key {MASK}"}}'


@pytest.mark.parametrize("name", ["authorization", "Api_Key", "x-api-key", "access_token", "clientSecret", "passwd"])
def test_value_of_a_field_that_is_named_like_a_secret_is_masked(name: str) -> None:
    assert json.loads(Redactor().redact_json(json.dumps({name: "hunter22"}))) == {name: MASK}


def test_too_deep_json_is_redacted_as_text() -> None:
    deep = '{"a":' * 220 + '{"password": "hunter22"}' + "}" * 220
    assert "hunter22" not in Redactor().redact_json(deep)
