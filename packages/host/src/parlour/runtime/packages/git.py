"""Brings one revision of a git repository here, with the git program: no hooks, no submodules, no questions asked."""

import asyncio
import os
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from parlour_sdk.plugin import PluginInvalid
from parlour_sdk.values import dataclass

from .commands import run

PROTOCOLS = ("https", "ssh", "file")
FORMS = "git+https://HOST/REPOSITORY or git+FOLDER, then @REVISION and #subdirectory=FOLDER if needed"
KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME")
PROXIES = ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class Address:
    repository: str
    revision: str = "HEAD"
    subfolder: str = ""

    @property
    def shown(self) -> str:
        """Without a password: addresses are kept and printed."""
        parts = urlsplit(self.repository)
        host = parts.netloc.rpartition("@")[2]
        repository = urlunsplit(parts._replace(netloc=host)) if parts.scheme == "https" else self.repository
        revision = "" if self.revision == "HEAD" else f"@{self.revision}"
        return f"git+{repository}{revision}" + (f"#subdirectory={self.subfolder}" if self.subfolder else "")


def is_address(source: str) -> bool:
    return source.startswith(("git+", "https://", "ssh://"))


def parse(source: str) -> Address:
    """`git+URL@REVISION#subdirectory=FOLDER`, as pip writes it."""
    parts = urlsplit(source.removeprefix("git+"))
    scheme = parts.scheme or "file"
    whole = "@" not in parts.path or (scheme == "file" and Path(unquote(parts.path)).is_dir())
    path, at, revision = (parts.path, "", "HEAD") if whole else parts.path.rpartition("@")
    name, _, subfolder = parts.fragment.partition("=")
    if scheme not in PROTOCOLS or parts.query or name not in ("", "subdirectory") or (name and not subfolder):
        raise PluginInvalid(f"'{source}' is not a git address that can be used; write {FORMS}")
    if not path or revision.startswith("-") or (at and not revision):
        raise PluginInvalid(f"'{source}' names no repository or no revision; write {FORMS}")
    if scheme == "file":
        return Address(f"file://{Path(unquote(path)).absolute()}", revision, unquote(subfolder))
    return Address(urlunsplit((scheme, parts.netloc, path, "", "")), revision, unquote(subfolder))


async def fetch(address: Address, target: Path, seconds: float) -> Path:
    """The folder with the plugin, inside `target`, which is made."""
    if shutil.which("git") is None:
        raise PluginInvalid("git is not installed here; install it, or install the plugin from a folder or a zip")
    try:
        async with asyncio.timeout(seconds):
            await _git(address, "init", "--quiet", str(target))
            await _git(
                address,
                *("-C", str(target), "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
                *("--", address.repository, address.revision),
            )
            await _git(address, "-C", str(target), "checkout", "--quiet", "--detach", "FETCH_HEAD")
    except TimeoutError:
        raise PluginInvalid(f"{address.shown} did not answer within {seconds:g} s; try again later") from None
    return _folder_of(address, target)


def _folder_of(address: Address, target: Path) -> Path:
    folder = (target / address.subfolder).resolve()
    if not folder.is_relative_to(target.resolve()) or not folder.is_dir():
        raise PluginInvalid(f"{address.shown}: there is no folder '{address.subfolder}' in it")
    return folder


async def _git(address: Address, *arguments: str) -> None:
    safety = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "credential.interactive=0")
    options = [word for setting in safety for word in ("-c", setting)]
    environment = {name: os.environ[name] for name in (*KEPT, *PROXIES) if name in os.environ} | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "LC_ALL": "C",
    }
    finished = await run(["git", *options, *arguments], environment)
    if finished.status != 0:
        fatal = [line.removeprefix("fatal: ") for line in finished.lines if line.startswith("fatal: ")]
        words = next(iter([*fatal, *finished.lines[-1:]]), "git gave no reason")
        raise PluginInvalid(f"{address.shown} can't be fetched: {words.replace(address.repository, address.shown)}")
