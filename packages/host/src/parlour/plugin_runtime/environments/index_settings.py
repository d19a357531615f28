"""Reads where packages come from: the variables and configuration files of uv and pip.

Everything that they name on this machine is shown to the installer in its sandbox, and nothing but the indexes that
they name can be reached from it.
"""

import configparser
import netrc
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from parlour_sdk.values import dataclass

DEFAULT_INDEX = "https://pypi.org/simple"
FILE_HOSTS = {
    "pypi.org": "files.pythonhosted.org",
    "test.pypi.org": "test-files.pythonhosted.org",
    "download.pytorch.org": "download-r2.pytorch.org",
}
"""Well-known indexes whose files are on another host."""
OVERRIDDEN_VARIABLES = (
    "UV_CACHE_DIR",
    "UV_COMPILE_BYTECODE",
    "UV_LINK_MODE",
    "UV_NO_CACHE",
    "UV_PYTHON",
    "UV_SYSTEM_PYTHON",
)
"""Variables of uv that the installer sets itself or that would start the new environment's Python."""
MAX_PAGES = 1000
MAX_PAGE_BYTES = 256 * 1024
_INDEX_KEY = re.compile(r"index|find[-_]links", re.IGNORECASE)
_DEFAULT_KEYS = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_NO_INDEX")
_NO_PATH_VARIABLES = re.compile(
    r"(CACHE|TOOL|BIN|INSTALL)_DIR$|PIP_(LOG|TARGET|PREFIX|ROOT|SRC)$|_(USERNAME|PASSWORD|TOKEN)$"
)
"""Variables that are not searched for paths: folders that an installation only writes to, and logins, which may look
like a path."""
_INDEX_NAME = re.compile(r"^[\w.-]+=(?=[/~.]|\w+:)")
_LINK = re.compile(r"""href\s*=\s*["']([^"'#?]+)""", re.IGNORECASE)
_PROXY_LINE = re.compile(r"^\s*(http-proxy|https-proxy|no-proxy)\s*=.*$", re.MULTILINE)
_SOURCE_KEYS = ("no-binary", "no-binary-package")
_NO_PACKAGE = (":all:", ":none:", "True")
"""Values of these keys that name no package; uv's options win over them."""
_NO_WHEELS = ("only-binary", ":none:")
_PORTS = {"http": 80, "https": 443}

HostPort = tuple[str, int]
"""A host's name and a port."""


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value of a setting with its key, and the base of relative paths if these are supported."""

    key: str
    value: str
    base: Path | None = None


@dataclass(frozen=True, slots=True)
class IndexSettings:
    files: tuple[Path, ...]
    """Configuration files of uv and pip."""
    paths: tuple[Path, ...]
    """Local files and folders that the variables and files name."""
    hosts: frozenset[HostPort]
    """Addresses of the indexes."""
    proxies: Mapping[str, str]
    """Proxies by scheme, from uv's configuration; those of the environment override them."""


def read(environment: Mapping[str, str]) -> IndexSettings:
    files = tuple(_files(environment))
    path_settings = [SettingValue(name, value) for name, value in environment.items() if _may_name_path(name)]
    proxies: dict[str, str] = {}
    default = not any(environment.get(name) for name in _DEFAULT_KEYS)
    for file in files:
        values = _toml(file) if file.suffix == ".toml" else _ini(file)
        path_settings += values
        proxies |= {
            each.key.partition("-")[0]: each.value for each in values if each.key in ("http-proxy", "https-proxy")
        }
        default &= not any(each.key in ("index-url", "pip.index-url", "no-index", "index.default") for each in values)
    paths: dict[Path, None] = {}
    hosts = {parse_address(DEFAULT_INDEX)} if default else set()
    for each in path_settings:
        is_index = bool(_INDEX_KEY.search(each.key))
        for part in _split_value(each.value):
            if part.lower().startswith(("http://", "https://")):
                hosts |= {parse_address(part)} if is_index else set()
            elif (path := _path(part, each.base, is_index)) is not None:
                paths[path] = None
                linked, addresses = linked_locations(path) if is_index and path.is_dir() else ((), ())
                paths |= dict.fromkeys(linked)
                hosts |= set(addresses)
    hosts |= {(FILE_HOSTS[host], port) for host, port in hosts if host in FILE_HOSTS}
    return IndexSettings(files, tuple(paths), frozenset(hosts), proxies)


def parse_address(url: str) -> HostPort:
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = None
    return (parts.hostname or "").lower(), port or _PORTS.get(parts.scheme.lower(), 443)


def linked_locations(index: Path) -> tuple[tuple[Path, ...], tuple[HostPort, ...]]:
    """Returns the folders and hosts outside a local index that its pages link to."""
    paths: dict[Path, None] = {}
    addresses: dict[HostPort, None] = {}
    for page in islice(index.glob("*/index.html"), MAX_PAGES):
        try:
            with page.open(encoding="utf-8", errors="replace") as lines:
                text = lines.read(MAX_PAGE_BYTES)
        except OSError:
            continue
        for link in _LINK.findall(text):
            if link.startswith(("http://", "https://")):
                addresses[parse_address(link)] = None
            elif link.startswith("file:"):
                paths[Path(unquote(urlsplit(link).path)).parent] = None
            elif (location := _within_index(index, Path(os.path.normpath(page.parent / unquote(link))))) is not None:
                paths[location] = None
    return tuple(path for path in paths if path.exists()), tuple(addresses)


def without_proxies(file: Path) -> str | None:
    """Returns uv's configuration without its proxies, which can't be reached in a sandbox; None if it has none."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    changed = _PROXY_LINE.sub("", text)
    return None if changed == text else changed


def forced_build(environment: Mapping[str, str]) -> str:
    """Returns the setting in uv's configuration that makes it build packages from source whatever its options say.

    Empty when there is none. For a package that is named there, uv ignores `--only-binary :all:`.
    """
    config_file = environment.get("UV_CONFIG_FILE")  # then uv reads no other file
    for file in (
        [Path(config_file)] if config_file else [each for each in _files(environment) if each.suffix == ".toml"]
    ):
        for each in _toml(file):
            key = each.key.removeprefix("pip.")
            if (key in _SOURCE_KEYS and each.value not in _NO_PACKAGE) or (key, each.value) == _NO_WHEELS:
                return f"{each.key} in {file}"
    return ""


def netrc_for(hosts: frozenset[HostPort], environment: Mapping[str, str]) -> str:
    """Returns the entries of the user's netrc file for the indexes and for no other host."""
    file = Path(environment.get("NETRC") or Path(environment.get("HOME") or "~").expanduser() / ".netrc")
    try:
        netrc_file = netrc.netrc(str(file))
    except (OSError, netrc.NetrcParseError, UnicodeDecodeError):
        return ""
    entries = []
    for host in sorted({host for host, _ in hosts}):
        if host in netrc_file.hosts:
            login, _, password = netrc_file.hosts[host]
            entries.append(f"machine {host} login {_quoted(login)} password {_quoted(password)}\n")
    return "".join(entries)


def _quoted(value: str) -> str:
    """Returns the word as in a netrc file. It is quoted only if necessary, since not every reader knows quotes."""
    return value if re.fullmatch(r"[^\s\"\\]+", value) else '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def _may_name_path(name: str) -> bool:
    return name.startswith(("UV_", "PIP_")) and name not in OVERRIDDEN_VARIABLES and not _NO_PATH_VARIABLES.search(name)


def _files(environment: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environment.get("HOME") or "~").expanduser()
    settings = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    uv = [environment.get("UV_CONFIG_FILE"), settings / "uv" / "uv.toml", "/etc/xdg/uv/uv.toml", "/etc/uv/uv.toml"]
    pip = [environment.get("PIP_CONFIG_FILE"), settings / "pip" / "pip.conf", home / ".pip" / "pip.conf"]
    for location in (*uv, *pip, "/etc/xdg/pip/pip.conf", "/etc/pip.conf"):
        if location and os.access(location, os.R_OK) and Path(location).is_file():
            yield Path(location).absolute()


def _toml(file: Path) -> list[SettingValue]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return []  # uv reports what is wrong with it
    return list(_flat(content, "", file.parent))


def _flat(value: Any, key: str, base: Path) -> Iterator[SettingValue]:
    match value:
        case dict():
            for name, each in value.items():
                yield from _flat(each, f"{key}.{name}".lstrip("."), base)
        case list():
            for each in value:
                yield from _flat(each, key, base)
        case str() | True:
            yield SettingValue(key, str(value), base)


def _ini(file: Path) -> list[SettingValue]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (OSError, UnicodeDecodeError, configparser.Error):
        return []
    # These keys are pip's, so they don't decide whether uv uses its default index.
    return [SettingValue(f"pip:{key}", value) for section in parser.sections() for key, value in parser.items(section)]


def _split_value(value: str) -> list[str]:
    """Returns the value and its parts, since some settings are lists and some paths have spaces."""
    parts = [value, *re.split(r"[\s,]+", value), *value.split(",")]
    return list(dict.fromkeys(_INDEX_NAME.sub("", part.strip()) for part in parts if part.strip()))


def _path(value: str, base: Path | None, is_index: bool) -> Path | None:
    """Returns the absolute path that the word names, if it is there and can be read."""
    if value.lower().startswith("file:"):
        path = Path(unquote(urlsplit(value).path))
    elif "://" in value or "\0" in value:
        return None
    elif value.startswith(("/", "~")):
        path = Path(os.path.expanduser(value))
    elif base is not None and (is_index or value.startswith(".")):
        path = base / value
    else:
        return None
    path = Path(os.path.abspath(path))
    try:
        readable = path != Path("/") and os.access(path, os.R_OK)
    except OSError:
        return None
    return path if readable else None


def _within_index(index: Path, target: Path) -> Path | None:
    """Returns the folder beside the index, or beside one of its parents, that contains the linked file."""
    if target.is_relative_to(index):
        return None
    common = Path(os.path.commonpath([index, target]))
    return target.parent if common == Path("/") else common / target.relative_to(common).parts[0]
