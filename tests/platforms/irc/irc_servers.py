"""Runs real IRC servers, from the distribution's packages, which are unpacked and installed nowhere."""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.support.harness import ROOT

START_SECONDS = 20.0
STOP_SECONDS = 10.0
USER_ID = 65534
"""Neither server runs as root."""
NGIRCD = """
[Global]
Name = irc.parlour.test
Info = a test
Listen = 127.0.0.1
Ports = {port}
MotdPhrase = welcome
ServerUID = {user}
ServerGID = {user}
{tls}
[Limits]
MaxConnectionsIP = 0
MaxPenaltyTime = 0
[Options]
DNS = no
Ident = no
PAM = no
"""
NGIRCD_TLS = """
[SSL]
CertFile = {certificate}
KeyFile = {certificate}
Ports = {port}
"""
INSPIRCD = """
<server name="irc.parlour.test" description="a test" network="Test" id="111">
<admin name="x" nick="x" email="x@example.org">
<path configdir="{folder}" datadir="{folder}" logdir="{folder}" moduledir="{modules}" runtimedir="{folder}">
<bind address="127.0.0.1" port="{port}" type="clients">
<connect allow="*" timeout="60" localmax="100" globalmax="100" commandrate="100000" threshold="1000" fakelag="no">
<class name="none"><type name="none" classes="none">
<dns enabled="no">
<security runasuser="" runasgroup="">
<log method="file" type="*" level="default" target="{folder}/ircd.log">
<module name="cap"><module name="ircv3"><module name="ircv3_servertime"><module name="ircv3_msgid">
<module name="ircv3_echomessage"><module name="ircv3_labeledresponse"><module name="ircv3_ctctags">
<module name="ircv3_batch"><module name="ircv3_chghost"><module name="namesx"><module name="services_account">
"""
MODULES = Path("usr/lib/inspircd/modules")
INSPIRCD_PACKAGES = (
    "inspircd", "libargon2-1", "libhttp-parser2.9", "libldap-2.5-0", "libmariadb3", "libmaxminddb0", "libpq5",
    "libre2-9", "libtre5",
)  # fmt: skip


@asynccontextmanager
async def ngircd(folder: Path) -> AsyncIterator[int]:
    """Starts ngircd, which knows plain IRC only, and yields its port."""
    packages, port = _packages("ngircd", "ngircd", "libident"), _free_port()
    file = folder / "ngircd.conf"
    file.write_text(NGIRCD.format(port=port, user=USER_ID, tls=""))
    async with _running(folder, port, packages, [packages / "usr" / "sbin" / "ngircd", "-n", "-f", file]):
        yield port


@asynccontextmanager
async def ngircd_with_tls(folder: Path, certificate: Path) -> AsyncIterator[int]:
    """Starts ngircd with a certificate, in one file with its key, and yields the port for connections with TLS."""
    packages, port, plain = _packages("ngircd", "ngircd", "libident"), _free_port(), _free_port()
    file = folder / "ngircd.conf"
    tls = NGIRCD_TLS.format(port=port, certificate=certificate)
    file.write_text(NGIRCD.format(port=plain, user=USER_ID, tls=tls))
    async with _running(folder, port, packages, [packages / "usr" / "sbin" / "ngircd", "-n", "-f", file]):
        yield port


@asynccontextmanager
async def inspircd(folder: Path) -> AsyncIterator[int]:
    """Starts InspIRCd with its modules for IRCv3, and yields its port."""
    packages, port = _packages("inspircd", *INSPIRCD_PACKAGES), _free_port()
    file = folder / "inspircd.conf"
    file.write_text(INSPIRCD.format(port=port, folder=folder, modules=packages / MODULES))
    command = [packages / "usr" / "sbin" / "inspircd", "--nofork", "--config", file, "--runasroot"]
    async with _running(folder, port, packages, command):
        yield port


def _packages(name: str, *packages: str) -> Path:
    folder = ROOT / ".tools" / name
    subprocess.run([ROOT / "tools" / "debian_packages.sh", folder, f"no-{name}", *packages], check=True)
    return folder


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@asynccontextmanager
async def _running(folder: Path, port: int, packages: Path, command: list[Path | str]) -> AsyncIterator[None]:
    process = await asyncio.to_thread(_start, folder, port, packages, command)
    try:
        yield
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, STOP_SECONDS)


def _start(folder: Path, port: int, packages: Path, command: list[Path | str]) -> "subprocess.Popen[bytes]":
    libraries = packages / "usr" / "lib" / "x86_64-linux-gnu"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(libraries)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), START_SECONDS).close()
        except OSError:
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until, "the server does not listen"
            time.sleep(0.05)
            continue
        return process
