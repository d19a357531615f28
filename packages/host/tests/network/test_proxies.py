"""The proxy of an address comes from the bot or the environment, and its password is in no message."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.network.proxies import InvalidProxy, ProxySettings, address_problem, parse_proxy, proxy_environment

ALL = {"HTTP_PROXY": "http://a:1", "HTTPS_PROXY": "http://b:2", "ALL_PROXY": "socks5h://c:3"}


def proxy_of(url: str, **variables: str) -> str | None:
    proxy = ProxySettings.from_environment(variables).for_url(url)
    return proxy.name if proxy is not None else None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://chat.example/", "http://a:1"),
        ("ws://chat.example/", "http://a:1"),
        ("https://chat.example/", "http://b:2"),
        ("wss://chat.example/", "http://b:2"),
        ("ftp://chat.example/", "socks5h://c:3"),
        ("no address", None),
        ("http://[broken/", None),
    ],
)
def test_the_scheme_chooses_the_variable(url: str, expected: str | None) -> None:
    assert proxy_of(url, **ALL) == expected


def test_all_proxy_is_used_for_schemes_without_their_own() -> None:
    assert proxy_of("https://chat.example", ALL_PROXY="socks5://c") == "socks5://c:1080"


def test_lower_case_comes_before_upper_case_and_a_missing_scheme_is_http() -> None:
    assert proxy_of("http://chat.example", http_proxy="low:8080", HTTP_PROXY="http://up:1") == "http://low:8080"


@pytest.mark.parametrize(
    ("no_proxy", "bypassed", "proxied"),
    [
        ("example.org", ["example.org", "a.example.org", "EXAMPLE.org", "example.org."], ["badexample.org", "org"]),
        (".example.org", ["example.org", "a.b.example.org"], ["example.com"]),
        ("*.example.org", ["a.example.org"], ["example.com"]),
        ("example.org:8443", ["example.org:8443"], ["example.org", "example.org:80"]),
        ("10.0.0.0/8, 2001:db8::/32", ["10.9.8.7", "[2001:db8::5]"], ["11.0.0.1", "[2001:db9::5]", "ten.example"]),
        ("192.0.2.7:443", ["192.0.2.7"], ["192.0.2.7:80", "192.0.2.8"]),
        ("a.example b.example", ["a.example", "b.example"], ["c.example"]),
        ("*", ["anything.example", "10.0.0.1"], []),
        ("", [], ["example.org"]),
    ],
)
def test_no_proxy_names_what_is_reached_directly(no_proxy: str, bypassed: list[str], proxied: list[str]) -> None:
    for host in bypassed:
        assert proxy_of(f"https://{host}/", HTTPS_PROXY="http://p", NO_PROXY=no_proxy) is None, host
    for host in proxied:
        assert proxy_of(f"https://{host}/", HTTPS_PROXY="http://p", NO_PROXY=no_proxy) == "http://p:80", host


@pytest.mark.parametrize("host", ["localhost", "bot.localhost", "127.0.0.1", "127.9.9.9", "[::1]"])
def test_a_loopback_address_uses_only_the_proxy_of_the_bot(host: str) -> None:
    assert proxy_of(f"http://{host}:80/", **ALL) is None
    proxy = ProxySettings.from_fields("http://own:8080").for_url(f"http://{host}/")
    assert proxy is not None
    assert proxy.name == "http://own:8080"


def test_a_bot_can_be_connected_directly_despite_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://environment:1")
    assert ProxySettings.from_fields("Direct").for_url("https://chat.example") is None
    proxy = ProxySettings.from_fields("").for_url("https://chat.example")
    assert proxy is not None
    assert proxy.name == "http://environment:1"


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host",
        "host:8080",
        "http://",
        "http://host:0",
        "http://host:99999",
        "http://h/path",
        "http://h?q",
        "http://a b",
    ],
)
def test_an_address_that_is_no_proxy_is_refused(address: str) -> None:
    with pytest.raises(InvalidProxy, match=r"^proxy: must be a proxy"):
        ProxySettings.from_fields(address)
    assert address_problem(address)


def test_a_wrong_variable_is_named_when_an_address_needs_it() -> None:
    settings = ProxySettings.from_environment({"HTTPS_PROXY": "gopher://user:geheim@host"})
    assert settings.for_url("http://chat.example") is None
    with pytest.raises(InvalidProxy, match=r"^HTTPS_PROXY: ") as refusal:
        settings.for_url("https://chat.example")
    assert "geheim" not in str(refusal.value)


def test_a_password_belongs_into_its_own_field() -> None:
    assert "password" in address_problem("http://user:geheim@host:1")
    assert address_problem("http://user@host:1") == address_problem("direct") == address_problem("") == ""


@given(user=st.text(min_size=1), password=st.text(min_size=1))
def test_credentials_survive_whatever_characters_they_have(user: str, password: str) -> None:
    from urllib.parse import quote, unquote, urlsplit

    if any(0xD800 <= ord(character) <= 0xDFFF for character in user + password):
        return
    proxy = parse_proxy(f"socks5://{quote(user, safe='')}@host", "proxy", password)
    parts = urlsplit(proxy.url)
    assert (unquote(parts.username or ""), unquote(parts.password or "")) == (user, password)
    assert proxy.name == "socks5://host:1080"
    assert proxy.url not in repr(proxy)


def test_a_process_gets_the_variables_in_both_spellings() -> None:
    environment = proxy_environment({"HTTPS_PROXY": "http://b:2", "no_proxy": "x", "PATH": "/bin"})
    assert environment == {
        "https_proxy": "http://b:2",
        "HTTPS_PROXY": "http://b:2",
        "no_proxy": "x",
        "NO_PROXY": "x",
    }
