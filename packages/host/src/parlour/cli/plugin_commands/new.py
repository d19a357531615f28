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
FOLDER_TEMPLATES = {"agent": ("folder", "an agent that greets"), "http-agent": ("http_agent", "an agent service")}
"""Folder of templates and description by kind."""
DOT_PREFIX = "dot-"
"""Prefix in the name of a template that stands for a leading dot."""


def run(settings: HostSettings, identity: str, one_file: bool, kind: str, into: Path) -> None:
    if one_file and kind != "agent":
        raise CommandError(f"--one-file makes an agent; leave it out for --kind {kind}, which is a folder")
    author, name = _identity(identity)
    substitutions = {"author": author, "name": name, "file": _module(name), "title": _title(name)}
    files = _fill_templates(TEMPLATES / ("one_file" if one_file else FOLDER_TEMPLATES[kind][0]), substitutions)
    target = into if one_file else into / name
    try:
        _write(files, target, one_file)
    except OSError as error:
        raise CommandError(f"{target} can't be written: {error.strerror or error}") from error
    path = target / f"{substitutions['file']}.py" if one_file else target
    _print_next_steps(path, identity, FOLDER_TEMPLATES[kind][1])


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
    module = "".join(each if each.isalnum() else "_" for each in name)
    return module if module.isidentifier() else f"plugin_{module}"


def _title(name: str) -> str:
    title = " ".join(name.replace("-", " ").replace("_", " ").split())
    return title[:1].upper() + title[1:]


def _fill_templates(templates: Path, substitutions: dict[str, str]) -> dict[Path, str]:
    """Returns the files by their path in the plugin's folder. Placeholders are filled in names and contents."""
    template_files = sorted(each for each in templates.rglob(f"*{SUFFIX}"))
    return {
        _target_path(each.relative_to(templates), substitutions): _fill(each.read_text("utf-8"), substitutions)
        for each in template_files
    }


def _target_path(template: Path, substitutions: dict[str, str]) -> Path:
    name = _fill(template.name.removesuffix(SUFFIX), substitutions)
    return template.with_name(f".{name.removeprefix(DOT_PREFIX)}" if name.startswith(DOT_PREFIX) else name)


def _fill(text: str, substitutions: dict[str, str]) -> str:
    return Template(text).substitute(substitutions)


def _write(files: dict[Path, str], target: Path, one_file: bool) -> None:
    existing = [target / file for file in files if (target / file).exists()] if one_file else [target] * target.exists()
    if existing:
        raise CommandError(f"{existing[0]} is there already; choose another name, or another folder with --into")
    parent = target if one_file else target.parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".new-") as staging:
        staged = Path(staging, "plugin")
        for file, text in files.items():
            (staged / file).parent.mkdir(parents=True, exist_ok=True)
            (staged / file).write_text(text, encoding="utf-8")
        for each in sorted(staged.iterdir()) if one_file else [staged]:
            shutil.move(each, target / each.name if one_file else target)


def _print_next_steps(path: Path, identity: str, description: str) -> None:
    quoted_path = shlex.quote(str(path))
    print(f"made {path}: {identity}, {description}")
    print(f"  parlour plugin test {quoted_path}")
    print(f"  parlour plugin chat {quoted_path}")
    print(f"  parlour plugin install {quoted_path} --data DIR")
