"""Fetches one revision of a git repository with the git program: no hooks, no submodules, no prompts."""

import asyncio
import os
import posixpath
import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

from parlour.isolation.subprocesses import OnLine, ignore_line, run
from parlour_sdk.plugin import PluginInvalid
from parlour_sdk.values import dataclass

from ..disk_errors import NO_SPACE_ERRNOS
from .archive import SizeLimits

PROTOCOLS = ("https", "ssh", "file")
ACCEPTED_FORMS = "git+https://HOST/REPOSITORY or git+FOLDER, then @REVISION and #subdirectory=FOLDER if needed"
FORWARDED_VARIABLES = (
    "PATH",
    "HOME",
    "LANG",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "XDG_CONFIG_HOME",
)
PROXY_VARIABLES = ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class GitAddress:
    repository: str
    revision: str = "HEAD"
    subfolder: str = ""

    @property
    def display_url(self) -> str:
        """The address without its password, since addresses are stored and printed."""
        parts = urlsplit(self.repository)
        host = parts.netloc.rpartition("@")[2]
        repository = urlunsplit(parts._replace(netloc=host)) if parts.scheme == "https" else self.repository
        revision = "" if self.revision == "HEAD" else f"@{self.revision}"
        return f"git+{repository}{revision}" + (f"#subdirectory={self.subfolder}" if self.subfolder else "")


def is_address(source: str) -> bool:
    return source.startswith(("git+", "https://", "ssh://"))


def parse(source: str) -> GitAddress:
    """Parses `git+URL@REVISION#subdirectory=FOLDER`, the form that pip uses."""
    try:
        parts = urlsplit(source.removeprefix("git+"))
    except ValueError:
        raise PluginInvalid(f"'{source}' is not an address; write {ACCEPTED_FORMS}") from None
    scheme = parts.scheme or "file"
    has_no_revision = "@" not in parts.path or (scheme == "file" and Path(unquote(parts.path)).is_dir())
    path, separator, revision = (parts.path, "", "HEAD") if has_no_revision else parts.path.rpartition("@")
    name, _, subfolder = parts.fragment.partition("=")
    if scheme not in PROTOCOLS or parts.query or name not in ("", "subdirectory") or (name and not subfolder):
        raise PluginInvalid(f"'{source}' is not a git address that can be used; write {ACCEPTED_FORMS}")
    if not path or revision.startswith("-") or (separator and not revision):
        raise PluginInvalid(f"'{source}' names no repository or no revision; write {ACCEPTED_FORMS}")
    if scheme == "file":
        return GitAddress(f"file://{Path(unquote(path)).absolute()}", revision, unquote(subfolder))
    return GitAddress(urlunsplit((scheme, parts.netloc, path, "", "")), revision, unquote(subfolder))


async def fetch(address: GitAddress, target: Path, seconds: float, limits: SizeLimits) -> Path:
    """Creates `target` and returns the plugin's folder inside it. No other file of the repository is written."""
    if shutil.which("git") is None:
        raise PluginInvalid("git is not installed here; install it, or install the plugin from a folder or a zip")
    folder = posixpath.normpath(address.subfolder or ".")
    directory_option = ("-C", str(target))
    try:
        async with asyncio.timeout(seconds):
            await _git(address, "init", "--quiet", str(target))
            await _git(
                address,
                *(*directory_option, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
                *("--", address.repository, address.revision),
            )
            await _check_size(address, directory_option, folder, limits)
            await _git(
                address, *directory_option, "--literal-pathspecs", "checkout", "--quiet", "FETCH_HEAD", "--", folder
            )
    except TimeoutError:
        raise PluginInvalid(f"{address.display_url} did not answer within {seconds:g} s; try again later") from None
    return target / folder


async def _check_size(address: GitAddress, directory_option: tuple[str, str], folder: str, limits: SizeLimits) -> None:
    """Checks size and number of the files before they are written.

    A few thousand bytes of a repository may stand for more than a disk holds.
    """
    files = total = 0

    def count(line: str) -> None:
        nonlocal files, total
        size = line.partition("\t")[0].split()[-1]
        files, total = files + 1, total + (int(size) if size.isdecimal() else 0)
        limits.check(files, total)

    tree = "FETCH_HEAD" if folder == "." else f"FETCH_HEAD:{folder}"
    try:
        await _git(address, *directory_option, "rev-parse", "--quiet", "--verify", tree)
    except PluginInvalid:
        raise PluginInvalid(f"{address.display_url}: there is no folder '{address.subfolder}' in it") from None
    await _git(address, *directory_option, "ls-tree", "-r", "--long", tree, on_line=count)


async def _git(address: GitAddress, *arguments: str, on_line: OnLine = ignore_line) -> None:
    safety = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "credential.interactive=0")
    options = [option for setting in safety for option in ("-c", setting)]
    environment = {
        name: os.environ[name] for name in (*FORWARDED_VARIABLES, *PROXY_VARIABLES) if name in os.environ
    } | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": ":".join(PROTOCOLS),
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
        "LC_ALL": "C",
    }
    finished = await run(["git", *options, *arguments], environment, on_line)
    if finished.status != 0:
        for number in NO_SPACE_ERRNOS:
            if any(os.strerror(number) in line for line in finished.lines):
                raise OSError(number, os.strerror(number))
        fatal = [line.removeprefix("fatal: ") for line in finished.lines if line.startswith("fatal: ")]
        reason = next(iter([*fatal, *finished.lines[-1:]]), "git gave no reason")
        raise PluginInvalid(
            f"{address.display_url} can't be fetched: {reason.replace(address.repository, address.display_url)}"
        )
