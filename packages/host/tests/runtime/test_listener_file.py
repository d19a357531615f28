"""What plugins listen to outlives the Host; a file that can't be read or written is no trouble to anybody."""

from pathlib import Path

import pytest

from parlour.plugin_runtime.supervision.listener_cache import ListenerCache

TOLD = [{"kind": "EventListener", "name": "hear", "spec": {"handlers": [{"event": "*", "name": "hear"}]}}]


def test_the_next_start_knows_what_was_told(tmp_path: Path) -> None:
    path = tmp_path / "listeners.json"
    ListenerCache(path).store("acme/ears", TOLD)
    assert ListenerCache(path).get("acme/ears") == TOLD
    assert ListenerCache(path).get("acme/other") == []


def test_a_plugin_that_listens_no_more_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "listeners.json"
    file = ListenerCache(path)
    file.store("acme/ears", TOLD)
    file.store("acme/ears", [])
    assert path.read_text() == "{}"


def test_what_has_not_changed_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "listeners.json"
    file = ListenerCache(path)
    file.store("acme/ears", TOLD)
    path.unlink()
    file.store("acme/ears", list(TOLD))
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[1]", b'{"acme/ears": 7}'])
def test_a_file_that_was_tampered_with_tells_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "listeners.json"
    path.write_bytes(content)
    assert ListenerCache(path).get("acme/ears") == []


def test_a_folder_that_is_gone_stops_no_plugin(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = ListenerCache(tmp_path / "gone" / "listeners.json")
    file.store("acme/ears", TOLD)
    assert file.get("acme/ears") == TOLD
    assert "listeners.json can't be written for now" in caplog.text
