"""CQ strings are decoded to what was encoded, and no text can pass for a code."""

from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms.onebot11.segments import escape_cq, format_segments, parse_cq, unescape_cq
from parlour.testing.onebot_simulator import cq_codes

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
NAMES = st.from_regex(r"[a-z_]{1,10}", fullmatch=True)
SEGMENTS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "data": {"text": text}}, TEXTS),
        st.builds(
            lambda kind, data: {"type": kind, "data": data},
            NAMES.filter(lambda name: name != "text"),
            st.dictionaries(NAMES, TEXTS, max_size=4),
        ),
    )
)


def joined(segments: list[dict[str, object]]) -> list[dict[str, object]]:
    """Joins neighbouring texts, as they are one text in a CQ string."""
    merged: list[dict[str, object]] = []
    for segment in segments:
        if merged and segment["type"] == merged[-1]["type"] == "text":
            text = merged[-1]["data"]["text"] + segment["data"]["text"]  # type: ignore[index]
            merged[-1] = {"type": "text", "data": {"text": text}}
        else:
            merged.append(segment)
    return merged


@given(SEGMENTS)
def test_segments_survive_a_string(segments: list[dict[str, object]]) -> None:
    assert parse_cq(format_segments(segments)) == joined(segments)


@given(SEGMENTS)
def test_the_simulator_and_the_adapter_read_each_other(segments: list[dict[str, object]]) -> None:
    assert parse_cq(cq_codes.written(segments)) == joined(segments)
    assert cq_codes.understood(format_segments(segments)) == joined(segments)


@given(TEXTS)
def test_a_text_stays_a_text(text: str) -> None:
    assert unescape_cq(escape_cq(text, comma=True)) == text
    assert parse_cq(escape_cq(text)) == [{"type": "text", "data": {"text": text}}]


@given(st.text())
def test_anything_can_be_read(text: str) -> None:
    assert all(isinstance(segment["type"], str) for segment in parse_cq(text))


def test_an_incomplete_code_is_text() -> None:
    for text in ("[CQ:at,qq=1", "[CQ:]", "[cq:at,qq=1]", "[CQ:at qq=1]"):
        assert parse_cq(text) == [{"type": "text", "data": {"text": text}}]
