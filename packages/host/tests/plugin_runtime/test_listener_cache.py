"""The listeners of plugins are cached across restarts; an unusable cache file is no failure."""

from pathlib import Path

import pytest

from parlour.plugin_runtime.supervision.listener_cache import ListenerCache

LISTENERS = [{"kind": "EventListener", "name": "hear", "spec": {"handlers": [{"event": "*", "name": "hear"}]}}]


def test_stored_listeners_are_read_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "listeners.json"
    ListenerCache(path).store("acme/ears", LISTENERS)
    assert ListenerCache(path).get("acme/ears") == LISTENERS
    assert ListenerCache(path).get("acme/other") == []


def test_a_plugin_without_listeners_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "listeners.json"
    file = ListenerCache(path)
    file.store("acme/ears", LISTENERS)
    file.store("acme/ears", [])
    assert path.read_text() == "{}"


def test_unchanged_listeners_are_not_written_again(tmp_path: Path) -> None:
    path = tmp_path / "listeners.json"
    file = ListenerCache(path)
    file.store("acme/ears", LISTENERS)
    path.unlink()
    file.store("acme/ears", list(LISTENERS))
    assert not path.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[1]", b'{"acme/ears": 7}'])
def test_an_invalid_file_has_no_listeners(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "listeners.json"
    path.write_bytes(content)
    assert ListenerCache(path).get("acme/ears") == []


def test_a_missing_folder_is_logged_and_listeners_stay_in_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = ListenerCache(tmp_path / "gone" / "listeners.json")
    file.store("acme/ears", LISTENERS)
    assert file.get("acme/ears") == LISTENERS
    assert "listeners.json can't be written for now" in caplog.text
