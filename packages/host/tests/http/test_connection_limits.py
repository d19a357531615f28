"""Tests the limits on the number of connections: in total, per address, and by the limit of open files."""

import resource

import pytest

from parlour.app.process_tuning import connections_within_file_limit
from parlour.app.web.connection_limits import ConnectionLimiter, ConnectionQuota
from parlour.http.client_address import TrustedProxies


@pytest.fixture
def limits() -> ConnectionLimiter:
    return ConnectionLimiter(ConnectionQuota(4, 2, 10, 60), TrustedProxies(["10.0.0.1"]), lambda reason: None)


def test_an_address_at_its_limit_is_refused_until_a_connection_ends(limits: ConnectionLimiter) -> None:
    assert [limits.enter("203.0.113.7") for _ in range(3)] == [None, None, "address"]
    assert limits.enter("203.0.113.8") is None
    limits.leave("203.0.113.7")
    assert limits.enter("203.0.113.7") is None


def test_addresses_of_one_ipv6_network_share_a_limit(limits: ConnectionLimiter) -> None:
    assert [limits.enter(f"2001:db8::{each}") for each in range(3)] == [None, None, "address"]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.1", "::ffff:127.0.0.1"])
def test_loopback_and_trusted_proxies_have_only_the_total_limit(limits: ConnectionLimiter, address: str) -> None:
    assert [limits.enter(address) for _ in range(5)] == [None] * 4 + ["total"]
    assert limits.open == 4
    for _ in range(4):
        limits.leave(address)
    assert limits.open == 0


def test_connections_leave_a_quarter_of_the_open_files_free() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, before[1]))
        assert connections_within_file_limit(10_000) == 768
        assert connections_within_file_limit(100) == 100
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert connections_within_file_limit(10_000) == 128
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
