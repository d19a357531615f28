"""Tests the client's address, scheme and host from the headers of trusted proxies."""

import pytest

from parlour.http.client_address import Forwarded, TrustedProxies, limit_key, parse_address

PROXIES = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"])


def forwarded(*headers: tuple[str, str]) -> Forwarded:
    return PROXIES.parse_headers([(name.lower().encode(), value.encode("latin-1")) for name, value in headers])


@pytest.mark.parametrize(
    ("header", "client"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7:4711", "203.0.113.7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("2001:db8::7", "2001:db8::7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7", "203.0.113.7"),
        ("198.51.100.1, 203.0.113.7, 10.1.2.3", "203.0.113.7"),
        ("10.1.2.3, 10.1.2.4", "10.1.2.3"),
        ("198.51.100.1, unknown", ""),
        ("", ""),
        (", ,", ""),
        ("not an address at all", ""),
    ],
)
def test_the_client_is_the_last_address_that_is_not_a_trusted_proxy(header: str, client: str) -> None:
    assert forwarded(("X-Forwarded-For", header)).client == client


def test_several_forwarded_for_headers_are_one_list() -> None:
    assert forwarded(("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-For", "203.0.113.7")).client == "203.0.113.7"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("for=203.0.113.7;proto=https;host=chat.example.org", Forwarded("203.0.113.7", "https", "chat.example.org")),
        ('For="[2001:db8::7]:4711"; Proto=HTTPS', Forwarded("2001:db8::7", "https")),
        ('for=198.51.100.1, for=203.0.113.7;host="a,b"', Forwarded("203.0.113.7", "", "a,b")),
        ("for=203.0.113.7, for=10.0.0.1;proto=http", Forwarded("203.0.113.7", "http")),
        ("for=_hidden;proto=gopher", Forwarded()),
        ("nonsense", Forwarded()),
        ('for="' + '"' * 9000, Forwarded()),
    ],
)
def test_the_forwarded_header_is_parsed(header: str, expected: Forwarded) -> None:
    assert forwarded(("Forwarded", header)) == expected


def test_scheme_and_host_come_from_the_nearest_proxy() -> None:
    parsed = forwarded(("X-Forwarded-Proto", "http, https"), ("X-Forwarded-Host", "evil.example, chat.example.org"))
    assert parsed == Forwarded("", "https", "chat.example.org")


def test_contradicting_forwarded_headers_are_ignored() -> None:
    common = ("X-Forwarded-For", "203.0.113.7")
    assert forwarded(common, ("Forwarded", "for=198.51.100.1;host=localhost")) == Forwarded()
    assert forwarded(common, ("Forwarded", "for=203.0.113.7;proto=https")) == Forwarded("203.0.113.7", "https")


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("", ""),
    ],
)
def test_an_ipv6_network_has_one_limit_key(address: str, key: str) -> None:
    assert limit_key(address) == key


def test_only_configured_proxies_are_trusted() -> None:
    assert [PROXIES.includes(each) for each in ("127.0.0.1", "10.9.8.7", "fd00::1", "::ffff:10.0.0.1")] == [True] * 4
    assert [PROXIES.includes(each) for each in ("127.0.0.2", "11.0.0.1", "", "localhost")] == [False] * 4
    assert parse_address("fe80::1%eth0") is not None
