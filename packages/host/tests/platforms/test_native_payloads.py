"""Recorded payloads are read back unchanged, without secrets."""

from pathlib import Path

from parlour.core.platforms.port import IncomingEvent
from parlour.testing.memory_link import MemoryLink
from parlour.testing.native_payloads import Recorder, read_samples
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_events import FriendAdded


async def test_an_event_is_recorded_with_its_native_form_and_handed_on(tmp_path: Path) -> None:
    link = MemoryLink()
    recorder = Recorder(link, tmp_path / "samples")
    event = FriendAdded(event_id="e", timestamp=1, user=User(id="ann"))
    await recorder.received(IncomingEvent(event.carrying({"type": "friend", "access_token": "hush", "n": [1]})))
    await recorder.received(IncomingEvent(event))
    assert len(link.incoming) == 2
    [sample] = read_samples(tmp_path / "samples")
    assert sample.event == "friend.added"
    assert sample.native == {"type": "friend", "access_token": "hidden", "n": [1]}
    assert sample.decoded["user"]["id"] == "ann"
