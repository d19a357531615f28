"""Runs uv for one environment: in a sandbox of its own, or without one if there is none.

No code of a package runs outside the sandbox. In it, uv sees what it needs to install (itself, Python, certificates,
its own and pip's configuration and the local indexes that these name) and nothing of the data directory but the folder
in which the environment is built. It reaches the indexes through a proxy of the Host and has no other network.
"""

import contextlib
import os
import sys
import sysconfig
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

from parlour.core.model.ids import PluginId
from parlour.isolation import subprocesses
from parlour.isolation.mounts import Mount, is_hidden
from parlour.isolation.sandbox_spec import SandboxSpec
from parlour.isolation.subprocesses import OnLine, ProcessResult
from parlour_sdk.values import dataclass

from ..process.launcher import LaunchSpec
from ..process.mounts import installer_mounts
from ..process.sandboxed_launcher import HOST_NAME, BubblewrapLauncher
from . import index_relay, index_settings, uv
from .index_proxy import IndexProxy
from .index_settings import HostPort, IndexSettings

SOCKET = Path("/run/parlour/index")
RELAY = Path("/run/parlour/index_relay.py")
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT")
CREDENTIALS = Path(".local", "share", "uv", "credentials")
"""Path below the home at which `uv auth login` stores credentials."""
PORTS = (443, 80)
COMPILE_WORKERS = "2"


class InstallerUnusable(Exception):
    """Raised when the installer can't be run in a sandbox here."""


class PackageInstaller(Protocol):
    @property
    def builds_sources(self) -> bool:
        """True if packages without a wheel may be built, which runs their code."""
        ...

    async def run(self, arguments: Sequence[str], on_line: OnLine) -> ProcessResult:
        """Runs uv with these arguments."""
        ...

    async def compile(self, environment: Path, final: Path, on_line: OnLine) -> None:
        """Compiles the environment, which will be moved to `final`, to bytecode."""
        ...

    def advice(self) -> str:
        """Returns what to do about hosts that were blocked; empty if there are none."""
        ...


@dataclass(frozen=True, slots=True)
class PlainInstaller:
    """Installs wheels only and compiles nothing, so that no code of a package runs."""

    program: Path
    cache: Path
    builds_sources: bool = False

    async def run(self, arguments: Sequence[str], on_line: OnLine) -> ProcessResult:
        return await subprocesses.run(
            uv.command(self.program, arguments), uv.environment(os.environ, self.cache), on_line
        )

    async def compile(self, environment: Path, final: Path, on_line: OnLine) -> None:
        """Does nothing: Python compiles each module when it is first imported."""

    def advice(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class SandboxedInstaller:
    program: Path
    cache: Path
    staging: Path
    launcher: BubblewrapLauncher
    settings: IndexSettings
    proxy: IndexProxy
    socket: Path
    builds_sources: bool = False

    async def run(self, arguments: Sequence[str], on_line: OnLine) -> ProcessResult:
        inside = [str(base_python()), "-I", "-S", str(RELAY), str(SOCKET), *uv.command(self.program, arguments)]
        # Its variables may have credentials, so they don't become arguments.
        spec = SandboxSpec(inside, self._mounts(), inherits_environment=True, host_name=HOST_NAME)
        with self.launcher.bubblewrap.wrap(spec) as boxed:
            return await subprocesses.run(boxed.arguments, self._environment(), on_line, boxed.descriptors)

    async def compile(self, environment: Path, final: Path, on_line: OnLine) -> None:
        """Compiles in a plugin's sandbox with the base Python, which reads no `.pth` file of the environment."""
        folder = site_packages(environment)
        python = base_python()
        start = LaunchSpec(PluginId("parlour/compiler"), folder, folder, python)
        flags = ["-I", "-S", "-m", "compileall", "-q", "-j", COMPILE_WORKERS, "-s", str(environment), "-p", str(final)]
        with self.launcher.wrap_plugin(start, [str(python), *flags, str(folder)]) as boxed:
            finished = await subprocesses.run(boxed.arguments, {}, descriptors=boxed.descriptors)
        if finished.status != 0:
            on_line("some files could not be compiled to bytecode; Python reads them as they are")

    def advice(self) -> str:
        blocked = ", ".join(self.proxy.blocked)
        if not blocked:
            return ""
        return f"{blocked} is none of the package indexes and was blocked; plugins.index_hosts allows more hosts"

    def _mounts(self) -> list[Mount]:
        home = Path(os.environ.get("HOME") or "~").expanduser()
        certificates = [Path(os.environ[name]) for name in CERTIFICATES if os.environ.get(name)]
        optional = [path for path in (*certificates, home / CREDENTIALS) if os.access(path, os.R_OK)]
        bindings = {SOCKET: self.socket, RELAY: Path(index_relay.__file__)}
        for number, file in enumerate(self.settings.files):
            text = index_settings.without_proxies(file) if file.suffix == ".toml" else None
            if text is not None and not is_hidden(file, self.launcher.bubblewrap.hidden):
                bindings[file] = self.staging / f"configuration-{number}.toml"
                bindings[file].write_text(text, encoding="utf-8")
        visible = [*self.settings.files, *self.settings.paths, *optional]
        writable = [self.staging, self.cache]
        return installer_mounts(self.program, visible, writable, bindings, self.launcher.bubblewrap.hidden)

    def _environment(self) -> dict[str, str]:
        logins = self.staging / "netrc"
        logins.write_text(index_settings.netrc_for(self.settings.hosts, os.environ), encoding="utf-8")
        logins.chmod(0o600)
        proxied = {name.lower() for name in uv.PROXY_VARIABLES}
        forwarded = {
            name: value for name, value in uv.environment(os.environ, self.cache).items() if name.lower() not in proxied
        }
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        return forwarded | pip | {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": "/tmp", "NETRC": str(logins)}


@contextlib.asynccontextmanager
async def open_sandboxed_installer(
    launcher: BubblewrapLauncher,
    program: Path,
    staging: Path,
    cache: Path,
    index_hosts: Sequence[str],
    builds_sources: bool,
    on_line: OnLine,
) -> AsyncIterator[SandboxedInstaller]:
    """Yields an installer whose proxy listens until the block ends."""
    with program.open("rb") as program_file:
        if program_file.read(2) == b"#!":
            raise InstallerUnusable(
                f"{program} is a script that starts uv; name the program itself with the setting plugins.uv"
            )
    settings = index_settings.read(os.environ)
    for path in (*settings.files, *settings.paths):
        if is_hidden(path, launcher.bubblewrap.hidden):
            on_line(
                f"{path} lies in the data directory, which the installer does not see; move it out of there to use it"
            )
    allowed = frozenset(address for entry in index_hosts for address in parse_index_host(entry))
    proxy = IndexProxy(settings.hosts | allowed, settings.proxies, on_line)
    async with proxy.listen() as socket:
        yield SandboxedInstaller(program, cache, staging, launcher, settings, proxy, socket, builds_sources)


def parse_index_host(entry: str) -> list[HostPort]:
    """Returns the addresses that `host` or `host:port` means."""
    host, _, port = entry.lower().rpartition(":") if entry.rpartition(":")[2].isdigit() else (entry.lower(), "", "")
    return [(host, int(port))] if port else [(host, number) for number in PORTS]


def base_python() -> Path:
    """Returns the Python that environments are made from, without the Host's own packages."""
    return Path(os.path.realpath(sys.executable))


def site_packages(environment: Path) -> Path:
    """Returns the folder of an environment's packages. Raises OSError if it is not a real folder.

    A package's build could have replaced it with a link, which would lead the compiler's sandbox elsewhere.
    """
    base = {"base": str(environment), "platbase": str(environment)}
    folder = Path(sysconfig.get_path("purelib", "venv", base))
    if not folder.is_dir() or os.path.realpath(folder) != os.path.join(
        os.path.realpath(environment.parent), os.path.relpath(folder, environment.parent)
    ):
        raise OSError(f"{folder.relative_to(environment.parent)} is no folder of its own")
    return folder
