"""Starts and stops real plugin runtimes and Hosts that use one. The tests decide which answers are right."""

import signal
from pathlib import Path

import psutil

from .commands import PARLOUR, clean_environment, parlour_here
from .harness import Host, eventually, processes_below
from .starting import Process, start


class Runtime:
    """Runs `parlour runtime` on a data directory. It can be stopped and started again at the same address."""

    def __init__(self, folder: Path, **environment: object) -> None:
        self.data = folder / "runtime"
        self._environment = {name: str(value) for name, value in environment.items()}
        self._output = folder / "runtime-output.txt"
        self._log = folder / "runtime-log.txt"
        self._process: Process | None = None
        self._listen = "127.0.0.1:0"
        self.url = ""

    @property
    def process(self) -> psutil.Process:
        assert self._process is not None, "the runtime was not started"
        return psutil.Process(self._process.pid)

    def token(self, name: str = "test") -> str:
        made = parlour_here("runtime", "token", "create", "--name", name, "--data", self.data)
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()

    def start(self) -> "Runtime":
        with self._output.open("wb") as output, self._log.open("ab") as log:
            command = [str(PARLOUR), "runtime", "--data", str(self.data), "--listen", self._listen]
            self._process = start(command, clean_environment(self._environment), output, log)
        self.url = eventually(self._announcement, "the runtime prints its address", 60)
        self._listen = self.url.removeprefix("ws://")
        return self

    def _announcement(self) -> str:
        assert self._process is not None
        assert self._process.poll() is None, self.log()
        text = self._output.read_text()
        return text.splitlines()[0].removeprefix("The plugin runtime is at ") if text.endswith("\n") else ""

    def printed(self) -> list[str]:
        return self._output.read_text().splitlines()

    def log(self) -> str:
        return self._log.read_text() if self._log.exists() else ""

    def stop(self, seconds: float = 30) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(seconds)
        self._process = None
        assert status == 0, self.log()
        assert processes_below(self.data) == []
        assert "Traceback" not in self.log()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait(5)
        self._process = None

    def close(self) -> None:
        if self._process is None:
            return
        try:
            self.stop()
        finally:
            for process in processes_below(self.data):
                process.kill()


class StandaloneHost(Host):
    """Represents a Host and its plugin runtime, which most tests start and stop together."""

    def __init__(self, folder: Path, **environment: object) -> None:
        super().__init__(folder, **environment)
        self.runtime = Runtime(folder, **environment)
        self.home = self.runtime.data

    @property
    def parent(self) -> psutil.Process:
        return self.runtime.process

    def start(self) -> "Host":
        try:
            return super().start()
        except BaseException:
            self.runtime.close()  # a fixture that fails here closes nothing
            raise

    def begin(self) -> None:
        if not self.runtime.url:
            self.use(self.runtime)
        if self.runtime._process is None:
            self.runtime.start()
            self._environment["PARLOUR__RUNTIME__URL"] = self.runtime.url
        super().begin()

    def use(self, runtime: Runtime) -> None:
        self._environment["PARLOUR__RUNTIME__TOKEN"] = runtime.token()

    def stop(self, seconds: float = 30) -> None:
        super().stop(seconds)
        if self.runtime._process is not None:
            self.runtime.stop(seconds)

    def kill(self) -> None:
        super().kill()
        self.runtime.kill()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self.runtime.close()

    def log(self) -> str:
        return super().log() + self.runtime.log()
