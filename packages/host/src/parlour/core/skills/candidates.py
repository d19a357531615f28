"""Finds the skills in a tree of files, for a preview and for the installation."""

from collections.abc import Collection
from pathlib import PurePosixPath

from parlour.core.model.ids import SkillName
from parlour_sdk.values import dataclass

from .document import DOCUMENT, check_name
from .limits import SkillInvalid
from .package import Files, SkillPackage, build_package


@dataclass(frozen=True, slots=True)
class SkillCandidate:
    """A skill that could be installed, or the reason why it can't."""

    source_path: str
    """Folder in the source; empty for its top."""
    package: SkillPackage | None
    target: SkillName | str
    """Name that it would have."""
    conflicts: bool = False
    """True if a skill of this name is installed."""
    problem: str = ""


def find_candidates(
    files: Files, installed: Collection[str], subfolder: str = "", suffix: str = ""
) -> list[SkillCandidate]:
    """Returns the skills of a source. Raises SkillInvalid if there is none."""
    prefix = PurePosixPath(subfolder.strip("/")).as_posix() if subfolder.strip("/") else ""
    roots = sorted(
        PurePosixPath(path).parent.as_posix().removeprefix(".")
        for path in files
        if PurePosixPath(path).name == DOCUMENT and _is_below(path, prefix)
    )
    tops = [root for root in roots if not any(_is_below(root, other) and root != other for other in roots)]
    if not tops:
        place = f" below '{prefix}'" if prefix else ""
        raise SkillInvalid(f"there is no {DOCUMENT}{place}; a skill is a folder with this file")
    return [_candidate(files, root, installed, suffix) for root in tops]


def _candidate(files: Files, root: str, installed: Collection[str], suffix: str) -> SkillCandidate:
    inside = {path[len(root) + 1 if root else 0 :]: file for path, file in files.items() if _is_below(path, root)}
    folder = PurePosixPath(root).name
    try:
        package = build_package(inside)
        target = check_name(f"{package.document.name}-{suffix}" if suffix else package.document.name)
        if folder and folder != package.document.name:
            raise SkillInvalid(
                f"{DOCUMENT} names the skill '{package.document.name}' and its folder is '{folder}'; both must agree"
            )
    except SkillInvalid as invalid:
        return SkillCandidate(root, None, folder, problem=str(invalid))
    if suffix:
        package = package.renamed(target)
    return SkillCandidate(root, package, target, target in installed)


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")
