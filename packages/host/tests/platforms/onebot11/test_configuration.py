"""A configuration with an unusable address or an exposed secret is refused when it is saved."""

from typing import Any

import pytest

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.platforms.onebot11.configuration import ADDRESS, HOST, PORT, SECRET, TOKEN


def problems(**config: Any) -> list[tuple[str, str]]:
    return BuiltinAdapterCatalogue().config_problems("onebot11", config)


@pytest.mark.parametrize("port", [-1, 65_536, 70_000, None])
def test_an_invalid_port_is_refused(port: int | None) -> None:
    assert problems(mode="reverse", host="127.0.0.1", port=port, access_token="held") == [("port", PORT)]


@pytest.mark.parametrize("host", ["a..b", "two words", "nul\0", "x" * 64])
def test_an_invalid_listen_address_is_refused(host: str) -> None:
    assert problems(mode="reverse", host=host, port=5320, access_token="held") == [("host", HOST)]


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::", "localhost", ""])
def test_a_valid_listen_address_is_accepted(host: str) -> None:
    assert problems(mode="reverse", host=host, port=1, access_token="held") == []


@pytest.mark.parametrize(("host", "port"), [("0.0.0.0", 5320), ("::", 5320), ("192.0.2.7", 5320), ("127.0.0.1", 0)])
def test_a_bot_that_other_machines_can_reach_requires_a_token(host: str, port: int) -> None:
    assert problems(mode="reverse", host=host, port=port) == [("access_token", TOKEN)]
    assert problems(mode="reverse", host=host, port=port, access_token="held") == []


@pytest.mark.parametrize("host", ["", "127.0.0.1", "127.0.0.9", "::1", "localhost", "LOCALHOST"])
def test_a_loopback_port_needs_no_token(host: str) -> None:
    assert problems(mode="reverse", host=host, port=5320) == []


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "napcat:3001",
        "http://napcat:3001",
        "ws://",
        "ws://:3001",
        "ws://napcat:0",
        "ws://napcat:-1",
        "ws://127.0.0.1:99999",
        "ws://napcat:many",
        "ws://[::1",
        "ws://a..b:3001",
        "ws://napcat:3001/#part",
        "ws://nap cat:3001",
        "ws://napcat:3001/\n",
    ],
)
def test_an_unusable_url_is_refused(url: str | None) -> None:
    assert problems(mode="forward", url=url) == [("url", ADDRESS)]


@pytest.mark.parametrize(
    "url", ["ws://127.0.0.1:3001", "wss://qq.example.org/onebot?role=1", "ws://[::1]:3001/", "ws://nap_cat", "WS://a:1"]
)
def test_a_websocket_url_is_accepted(url: str) -> None:
    assert problems(mode="forward", url=url) == []


@pytest.mark.parametrize(
    "url",
    [
        "ws://user:password@napcat:3001",
        "ws://token@napcat:3001",
        "ws://@napcat:3001",
        "ws://napcat:3001/?access_token=Q",
        "ws://napcat:3001/?a=1&Token=Q",
        "ws://napcat:3001?access_token=",
    ],
)
def test_a_url_with_a_secret_is_refused_and_the_right_field_is_named(url: str) -> None:
    [(field, sentence)] = problems(mode="forward", url=url)
    assert (field, sentence) == ("url", SECRET)
    assert "access_token" in sentence


def test_fields_of_the_other_mode_are_not_checked() -> None:
    assert problems(mode="forward", url="ws://napcat:3001", port=0) == []
    assert problems(mode="reverse", url="nonsense", host="", port=5320) == []


def test_a_platform_without_checks_of_its_own_has_none() -> None:
    assert BuiltinAdapterCatalogue().config_problems("telegram", {"token": ""}) == []
