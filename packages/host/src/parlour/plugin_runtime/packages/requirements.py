"""Reads a plugin's requirements: packages by name, one per line. The operator chooses where they come from."""

import re
from pathlib import Path

from parlour_sdk.plugin import PluginDefinition, PluginInvalid
from parlour_sdk.values import dataclass

_COMMENT = re.compile(r"(^|\s)#.*")
_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SPECIFIER = r"(===|~=|[=!<>]=|[<>])\s*[\w.*+!-]+"
_REQUIREMENT = re.compile(
    rf"[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?\s*(\[[\w.,\s-]*\])?"
    rf"\s*(\(?\s*{_SPECIFIER}(\s*,\s*{_SPECIFIER})*\s*\)?)?\s*(;[\w\s.,'\"<>=!~()*+-]+)?",
    re.ASCII,
)
_HASHES = re.compile(r"(\s--hash=[\w:=-]+)+$")
"""Hashes only narrow down which files are accepted."""
_ARCHIVES = (".whl", ".zip", ".egg", ".tar", ".tgz", ".gz", ".bz2", ".xz")
MAX_FILE_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Requirements:
    lines: tuple[str, ...] = ()
    """Lines of the file without comments, sorted, so that plugins with the same requirements have equal ones."""

    def find_in(self, text: str) -> str:
        """Returns the first requirement whose name occurs in the text; empty if none does."""
        names = set(re.split(r"[^a-z0-9-]+", _normalize(text)))
        return next((line for line in self.lines if _normalize(package_name(line)) in names), "")


def read_requirements(plugin: PluginDefinition) -> Requirements:
    """Returns the requirements; empty if the manifest names no file, or one that asks for nothing."""
    file_name = plugin.manifest.execution.requirements
    if file_name is None:
        return Requirements()
    file = (plugin.folder / file_name).resolve()
    if not file.is_relative_to(plugin.folder.resolve()):
        raise PluginInvalid(f"manifest.yaml: execution.requirements: '{file_name}' leaves the plugin's folder")
    return Requirements(
        tuple(sorted({_check_line(line, file_name, number) for number, line in _lines(file, file_name)}))
    )


def package_name(line: str) -> str:
    match = _NAMED.match(line)
    return match.group() if match else ""


def _normalize(name: str) -> str:
    return re.sub(r"[._-]+", "-", name).lower()


def _lines(file: Path, file_name: str) -> list[tuple[int, str]]:
    """Returns the lines, numbered from 1. A line that ends with a backslash continues in the next."""
    try:
        if file.stat().st_size > MAX_FILE_BYTES:
            raise PluginInvalid(f"{file_name}: a requirements file may have at most {MAX_FILE_BYTES} bytes")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise PluginInvalid(
            f"manifest.yaml: execution.requirements names {file_name}, which can't be read: {error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise PluginInvalid(f"{file_name} is not text in UTF-8") from error
    requirement_lines: list[tuple[int, str]] = []
    continued = ""
    for number, line in enumerate(text.splitlines(), 1):
        continued += _COMMENT.sub("", line)
        if continued.endswith("\\"):
            continued = continued[:-1] + " "
            continue
        if continued.strip():
            requirement_lines.append((number, " ".join(continued.split())))
        continued = ""
    return (
        [*requirement_lines, (len(text.splitlines()), " ".join(continued.split()))]
        if continued.strip()
        else requirement_lines
    )


def _check_line(line: str, file_name: str, number: int) -> str:
    """Returns the line. Raises PluginInvalid unless it means the same everywhere.

    So the text of the requirements alone identifies an environment.
    """
    problem = _fault(_HASHES.sub("", line))
    if problem:
        raise PluginInvalid(
            f"{file_name}, line {number}: '{line[:100]}' {problem}; list packages by name only, such as 'httpx>=0.28' "
            "(where they come from is the operator's choice: an index of uv's)"
        )
    return line


def _fault(line: str) -> str:
    """Returns what is wrong with a line.

    Empty if it is a package's name with what PEP 508 allows after it, but no address.
    """
    requirement = line.partition(";")[0]
    if line.startswith("-") or re.search(r"\s-", line):
        return "is or has an option"
    if "@" in requirement or "://" in requirement or "file:" in requirement:
        return "names an address"
    if re.search(r"[/\\]", requirement) or requirement.strip().lower().endswith(_ARCHIVES):
        return "is a path"
    return "" if _REQUIREMENT.fullmatch(line) else "is not a package's name"
