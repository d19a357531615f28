"""The open connections of worker processes, one for each worker."""

from parlour.core.model.ids import ApiKeyId, RuntimeId
from parlour_sdk.values import dataclass
from parlour_sdk.wire import Peer, WireError

from .messages import IN_USE


@dataclass(frozen=True, slots=True)
class WorkerConnection:
    """The connection of one process of a worker."""

    key_id: ApiKeyId
    instance: str
    peer: Peer


class WorkerConnections:
    """The connections that have said hello, by worker."""

    def __init__(self) -> None:
        self._by_worker: dict[RuntimeId, WorkerConnection] = {}

    def __len__(self) -> int:
        return len(self._by_worker)

    def check(self, name: RuntimeId, connection: WorkerConnection) -> None:
        """Raises WireError if another process of the same name is connected."""
        current = self._by_worker.get(name)
        if current is not None and not current.peer.closed and current.instance != connection.instance:
            raise WireError(
                IN_USE,
                f"another process is connected as worker '{name}'; stop it, or give each its own worker.name",
                {"retryable": True},
            )

    def add(self, name: RuntimeId, connection: WorkerConnection) -> None:
        """Adds a connection. It replaces an earlier one of the same process."""
        earlier = self._by_worker.get(name)
        self._by_worker[name] = connection
        if earlier is not None and earlier.peer is not connection.peer:
            earlier.peer.close("the worker has connected again")

    def remove(self, name: RuntimeId, peer: Peer) -> None:
        current = self._by_worker.get(name)
        if current is not None and current.peer is peer:
            del self._by_worker[name]

    def close(self, name: RuntimeId, reason: str) -> None:
        connection = self._by_worker.get(name)
        if connection is not None:
            connection.peer.close(reason, refused=True)
