"""Provides ports for tests."""

import random
import socket

FIRST, LAST = 20_000, 32_000
"""These ports are below those that the system gives to outgoing connections."""


def free_port() -> int:
    """Returns a port that is free at this moment."""
    while True:
        port = random.SystemRandom().randint(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
