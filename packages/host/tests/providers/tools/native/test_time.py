"""The time tool answers with the time in a zone."""

import pytest

from parlour.providers.tools.native.time import TimeNow
from parlour_sdk.protocol.content import plain_text

from ..sources import ASKING


class Noon:
    def now(self) -> int:
        return 1_767_268_800_000  # 2026-01-01 12:00 UTC


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, "2026-01-01T12:00:00+00:00 (Thursday, UTC)"),
        ({"zone": "Asia/Tokyo"}, "2026-01-01T21:00:00+09:00 (Thursday, Asia/Tokyo)"),
        ({"zone": "Pacific/Auckland"}, "2026-01-02T01:00:00+13:00 (Friday, Pacific/Auckland)"),
    ],
)
async def test_the_answer_has_the_time_zone_and_weekday(parameters: dict[str, str], text: str) -> None:
    outcome = await TimeNow(Noon()).call(ASKING, parameters)
    assert (plain_text(outcome.content), outcome.is_error) == (text, False)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "\0", "x" * 10_000])
async def test_an_unknown_zone_is_refused_with_a_reason(zone: str) -> None:
    outcome = await TimeNow(Noon()).call(ASKING, {"zone": zone})
    assert outcome.is_error
    assert plain_text(outcome.content).startswith("zone: there is no time zone")
