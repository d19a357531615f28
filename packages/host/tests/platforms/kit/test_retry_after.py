"""The delay that a platform asks for is read in every form that platforms use."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.platforms._kit.retry_after import MAX_RETRY_SECONDS, retry_after_seconds

NOW = 1_445_412_470.0


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"Retry-After": "7"}, None, 7),
        ({"Retry-After": "0.25"}, None, 0.25),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, None, 10),
        ({"Retry-After": "Wed, 21 Oct 2015 07:00:00 GMT"}, None, 0.05),
        ({"X-RateLimit-Reset-After": "1.5", "Retry-After": "2"}, None, 1.5),
        ({"Retry-After": "2"}, {"retry_after": 0.65}, 0.65),
        ({}, {"retry_after_ms": 1500}, 1.5),
        ({}, {"parameters": {"retry_after": 12}}, 12),
        ({}, {"retry_after": 10**9}, MAX_RETRY_SECONDS),
        ({}, {"retry_after": True}, None),
        ({"Retry-After": "soon"}, {"retry_after": "nan"}, None),
        ({}, None, None),
    ],
)
def test_each_form_is_understood(headers: dict[str, str], body: dict[str, Any] | None, expected: float | None) -> None:
    assert retry_after_seconds(headers, body, NOW) == expected


@given(st.text(), st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()))
def test_any_value_gives_a_bounded_delay_or_none(header: str, value: Any) -> None:
    delay = retry_after_seconds({"Retry-After": header}, {"retry_after": value})
    assert delay is None or 0 < delay <= MAX_RETRY_SECONDS
