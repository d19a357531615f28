"""`parlour plugin new`: writes a working plugin from the files in `templates`, completely or not at all."""

import shlex
import shutil
import tempfile
from pathlib import Path
from string import Template

from parlour.app.settings import HostSettings
from parlour.plugin_runtime.store import require_safe_name
from parlour_sdk.plugin import PluginInvalid

from ..main import CommandError

TEMPLATES = Path(__file__).with_name("templates")
SUFFIX = ".template"
"""Suffix of template files, so that no tool treats them as files of Parlour itself."""
DOT_PREFIX = "dot-"
"""Prefix in the name of a template that stands for a leading dot."""


def run(settings: HostSettings, identity: str, one_file: bool, into: Path) -> None:
    author, name = _identity(identity)
    words = {"author": author, "name": name, "file": _module(name), "title": _title(name)}
    files = _filled(TEMPLATES / ("one_file" if one_file else "folder"), words)
    place = into if one_file else into / name
    try:
        _write(files, place, one_file)
    except OSError as error:
        raise CommandError(f"{place} can't be written: {error.strerror or error}") from error
    _print_next_steps(place / f"{words['file']}.py" if one_file else place, identity)


def _identity(identity: str) -> tuple[str, str]:
    author, _, name = identity.partition("/")
    if not author or not name:
        raise CommandError(f"'{identity}' is no identity; write AUTHOR/NAME, such as acme/hello")
    try:
        return require_safe_name(author), require_safe_name(name)
    except PluginInvalid as error:
        raise CommandError(str(error)) from error


def _module(name: str) -> str:
    """Returns a module name that Python can import."""
    word = "".join(each if each.isalnum() else "_" for each in name)
    return word if word.isidentifier() else f"plugin_{word}"


def _title(name: str) -> str:
    words = " ".join(name.replace("-", " ").replace("_", " ").split())
    return words[:1].upper() + words[1:]


def _filled(templates: Path, words: dict[str, str]) -> dict[Path, str]:
    """Returns the files by their path in the plugin's folder. Placeholders are filled in names and contents."""
    found = sorted(each for each in templates.rglob(f"*{SUFFIX}"))
    return {_place(each.relative_to(templates), words): _fill(each.read_text("utf-8"), words) for each in found}


def _place(template: Path, words: dict[str, str]) -> Path:
    name = _fill(template.name.removesuffix(SUFFIX), words)
    return template.with_name(f".{name.removeprefix(DOT_PREFIX)}" if name.startswith(DOT_PREFIX) else name)


def _fill(text: str, words: dict[str, str]) -> str:
    return Template(text).substitute(words)


def _write(files: dict[Path, str], place: Path, one_file: bool) -> None:
    taken = [place / file for file in files if (place / file).exists()] if one_file else [place] * place.exists()
    if taken:
        raise CommandError(f"{taken[0]} is there already; choose another name, or another folder with --into")
    above = place if one_file else place.parent
    above.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=above, prefix=".new-") as staging:
        fresh = Path(staging, "plugin")
        for file, text in files.items():
            (fresh / file).parent.mkdir(parents=True, exist_ok=True)
            (fresh / file).write_text(text, encoding="utf-8")
        for each in sorted(fresh.iterdir()) if one_file else [fresh]:
            shutil.move(each, place / each.name if one_file else place)


def _print_next_steps(path: Path, identity: str) -> None:
    shown = shlex.quote(str(path))
    print(f"made {path}: {identity}, an agent that greets")
    print(f"  parlour plugin test {shown}")
    print(f"  parlour plugin chat {shown}")
    print(f"  parlour plugin install {shown} --data DIR")
