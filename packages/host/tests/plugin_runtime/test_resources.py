"""The size of a folder with any content, and the limit of a plugin's data folder."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.plugin_runtime.supervision.limits import MEBIBYTE, FolderUse, Measure, measure_folder, watch_folder
from parlour.plugin_runtime.supervision.policy import ResourceLimits

ALLOWANCE = ResourceLimits(data_mb=20, data_check_seconds=0.001)


async def test_all_files_in_subfolders_count(tmp_path: Path) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    for path in ("one", "deep/two", "deep/deeper/three"):
        (tmp_path / path).write_bytes(os.urandom(100_000))

    use = await measure_folder(tmp_path)
    assert 300_000 <= use.size_bytes <= 400_000
    assert use.files == 5


async def test_links_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "big").write_bytes(os.urandom(1_000_000))
    (inside / "to a file").symlink_to(outside / "big")
    (inside / "to a folder").symlink_to(outside)
    (inside / "to itself").symlink_to(inside)

    assert (await measure_folder(inside)).size_bytes < 100_000


async def test_a_file_with_holes_counts_with_its_whole_size(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**12)

    assert (await measure_folder(tmp_path)).size_bytes >= 10**12


async def test_a_missing_folder_has_no_size(tmp_path: Path) -> None:
    assert await measure_folder(tmp_path / "absent") == FolderUse()


def measure_in_turn(megabytes: Iterator[int]) -> Measure:
    """Measures a folder that has the next of these sizes at each check."""

    async def measure(folder: Path) -> FolderUse:
        return FolderUse(next(megabytes) * MEBIBYTE)

    return measure


async def test_a_folder_over_the_limit_may_shrink_until_the_plugin_is_ready(tmp_path: Path) -> None:
    ready = asyncio.Event()

    def megabytes() -> Iterator[int]:
        yield from (30, 30, 25)
        ready.set()
        yield from (20, 21)

    reason = await watch_folder(tmp_path, ALLOWANCE, measure_in_turn(megabytes()), ready)

    assert reason == "its data folder holds more than 20 MB"


@pytest.mark.parametrize("sizes", [(30, 31), (5, 25)], ids=["fuller still", "over the limit"])
async def test_a_folder_that_grows_over_the_limit_before_the_plugin_is_ready_is_refused(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    reason = await watch_folder(tmp_path, ALLOWANCE, measure_in_turn(iter(sizes)), asyncio.Event())

    assert reason == "its data folder holds more than 20 MB"
