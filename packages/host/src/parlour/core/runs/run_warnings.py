"""Tells the log what is wrong with the results of one run, up to a bound: no runner floods it."""

import logging

logger = logging.getLogger(__name__)

WARNINGS_PER_RUN = 20


class Warnings:
    """On its own, so that whoever warns refers to this and not to each other: a run is then gone when it is over."""

    def __init__(self, kind: str, run_id: str) -> None:
        self._kind = kind
        self._run_id = run_id
        self._count = 0

    def add(self, warning: str) -> None:
        self._count += 1
        if self._count <= WARNINGS_PER_RUN:
            logger.warning("%s %s: %s", self._kind, self._run_id, warning)
