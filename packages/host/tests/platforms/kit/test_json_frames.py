"""Frames that a strict parser refuses are read as far as possible."""

from typing import Any

import pytest

from parlour.platforms._kit.json_frames import MAX_DEPTH, FrameUnreadable, read_frame


def depth(value: Any) -> int:
    layers = 0
    while isinstance(value, list) and value:
        value, layers = value[0], layers + 1
    return layers


@pytest.mark.parametrize("layers", [150, 5_000, 50_000])
@pytest.mark.parametrize("encode", [str, str.encode])
def test_a_value_that_nests_too_deep_is_cut_off_and_the_rest_stays(layers: int, encode: Any) -> None:
    frame = '{"deep":' + "[" * layers + "1" + "]" * layers + ', "text": "a ] \\" [ {"}'
    payload = read_frame(encode(frame))

    assert payload["text"] == 'a ] " [ {'
    assert 0 < depth(payload["deep"]) <= MAX_DEPTH


def test_half_of_a_surrogate_pair_becomes_a_replacement_character() -> None:
    assert read_frame('{"text": "cut \\ud83d"}') == {"text": "cut \ufffd"}


@pytest.mark.parametrize("frame", ["", "[1]", '{"text": ', "[" * 50_000, '"' * 3])
def test_a_frame_that_is_no_object_is_unreadable(frame: str) -> None:
    with pytest.raises(FrameUnreadable):
        read_frame(frame)
