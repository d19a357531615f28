"""Logs problems with the results of one run, up to a limit, so that no runner floods the log."""

import logging

from parlour.core.model.ids import RunId

logger = logging.getLogger(__name__)

WARNINGS_PER_RUN = 20
"""Maximum warnings that are logged per run."""


class RunWarnings:
    """Logs warnings of one run. It is a separate object so that its users do not refer to each other; a run is then
    freed as soon as it is over.
    """

    def __init__(self, kind: str, run_id: RunId) -> None:
        self._kind = kind
        self._run_id = run_id
        self._count = 0

    def log(self, warning: str) -> None:
        self._count += 1
        if self._count <= WARNINGS_PER_RUN:
            logger.warning("%s %s: %s", self._kind, self._run_id, warning)
