"""Which files of the machine a session may show: allowed folders only, and what was checked is what is mounted."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.box.errors import BoxError
from parlour.box.mount_policy import MountPolicy


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path)) / "allowed"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "file.txt").write_text("shown")
    (root.parent / "outside").mkdir()
    (root / "link").symlink_to(root.parent / "outside")
    (root / "inner" / "up").symlink_to("../..")
    return root


@pytest.mark.parametrize("path", ["inner", "inner/file.txt"])
def test_paths_below_an_allowed_folder_are_opened(root: Path, path: str) -> None:
    with MountPolicy([root], []).open([str(root / path)]) as (mounts, descriptors):
        assert os.path.realpath(f"/proc/self/fd/{descriptors[0]}") == str(root / path)
        assert mounts[0].options[0] == "--ro-bind"


@pytest.mark.parametrize(
    "path",
    [
        "link",
        "link/x",
        "inner/up",
        "inner/up/outside",
        "inner/../../outside",
        "inner/",
        "Inner",
        "absent",
        "../outside",
    ],
)
def test_links_and_detours_are_refused(root: Path, path: str) -> None:
    with pytest.raises(BoxError) as refused, MountPolicy([root], []).open([f"{root}/{path}"]):
        pass
    assert refused.value.code == "mount_refused"


@pytest.mark.parametrize(
    "path",
    ["/", "/etc", "/etc/passwd", "/proc", "/proc/1/environ", "/sys", "/dev", "/dev/null", "/home", "/root", "/run"],
)
def test_folders_of_the_system_are_never_shown(path: str) -> None:
    with pytest.raises(BoxError), MountPolicy([Path("/")], []).open([path]):
        pass


def test_data_of_the_host_is_never_shown_nor_a_folder_above_it(root: Path) -> None:
    hidden = MountPolicy([root], [root / "inner" / "data"])
    (root / "inner" / "data").mkdir()
    for path in (root / "inner", root / "inner" / "data"):
        with pytest.raises(BoxError), hidden.open([str(path)]):
            pass
    with hidden.open([str(root / "inner" / "file.txt")]):
        pass


def test_without_allowed_folders_nothing_is_shown(root: Path) -> None:
    with pytest.raises(BoxError), MountPolicy([], []).open([str(root)]):
        pass


def test_s5_folder_that_is_swapped_after_the_check_is_not_followed(root: Path) -> None:
    with MountPolicy([root], []).open([str(root / "inner")]) as (mounts, _):
        (root / "inner").rename(root / "moved")
        (root / "inner").symlink_to("/etc")
        assert os.path.realpath(mounts[0].options[1]) == str(root / "moved")


@given(st.lists(st.sampled_from(["inner", "..", ".", "link", "up", "outside", "file.txt", ""]), max_size=6))
def test_s5_no_combination_of_names_leaves_the_allowed_folder(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str]
) -> None:
    root = Path(os.path.realpath(tmp_path_factory.getbasetemp())) / "property"
    if not root.exists():
        (root / "allowed" / "inner").mkdir(parents=True)
        (root / "allowed" / "inner" / "file.txt").touch()
        (root / "outside").mkdir()
        (root / "allowed" / "link").symlink_to(root / "outside")
        (root / "allowed" / "inner" / "up").symlink_to("..")
    with suppress(BoxError), MountPolicy([root / "allowed"], []).open([f"{root}/allowed/{'/'.join(parts)}"]) as opened:
        assert Path(os.path.realpath(opened[0][0].options[1])).is_relative_to(root / "allowed")
