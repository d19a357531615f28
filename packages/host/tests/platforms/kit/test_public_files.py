"""Tests the signed addresses of files: what they serve, when they end, and what is never served."""

from urllib.parse import parse_qsl, urlsplit

import pytest

from parlour.core.platforms.hooks import HookCall
from parlour.core.platforms.port import FileContent
from parlour.platforms._kit.outgoing_files import OutgoingFile
from parlour.platforms._kit.public_files import LIFETIME_SECONDS, MAX_KEPT_BYTES, PublicFiles
from parlour.testing.memory_link import MemoryLink

PICTURE = OutgoingFile(b"picture", "a.png", "image/png")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def call(address: str) -> HookCall:
    return HookCall(b"", query=dict(parse_qsl(urlsplit(address).query)), method="GET")


@pytest.fixture
def link() -> MemoryLink:
    return MemoryLink(public_url="https://host.example")


async def test_an_artifact_is_served_after_a_restart_too(link: MemoryLink) -> None:
    link.files["art"] = FileContent(b"picture", "a.png", "image/png")
    address = PublicFiles(link, "secret").address(PICTURE, "art")
    assert address.startswith("https://host.example/hooks/bot?")
    served = await PublicFiles(link, "secret").serve(call(address))
    assert served is not None
    assert (served.status, served.content, served.content_type) == (200, b"picture", "image/png")


async def test_another_secret_or_a_changed_name_is_refused(link: MemoryLink) -> None:
    link.files["art"] = link.files["other"] = FileContent(b"picture", "a.png", "image/png")
    address = PublicFiles(link, "secret").address(PICTURE, "art")
    for files, url in (
        (PublicFiles(link, "another"), address),
        (PublicFiles(link, "secret"), address.replace("art", "other")),
    ):
        refused = await files.serve(call(url))
        assert refused is not None
        assert refused.status == 403


async def test_an_address_expires(link: MemoryLink) -> None:
    clock = Clock()
    files = PublicFiles(link, "secret", clock=clock)
    address = files.address(PICTURE)
    clock.now += LIFETIME_SECONDS + 1
    expired = await files.serve(call(address))
    assert expired is not None
    assert expired.status == 410


@pytest.mark.parametrize(("mime_type", "status"), [("text/html", 415), ("image/svg+xml", 415), ("audio/mpeg", 200)])
async def test_only_types_that_no_browser_runs_are_served(link: MemoryLink, mime_type: str, status: int) -> None:
    files = PublicFiles(link, "secret")
    served = await files.serve(call(files.address(OutgoingFile(b"<script>", "a", mime_type))))
    assert served is not None
    assert served.status == status


async def test_contents_without_an_artifact_are_forgotten_beyond_the_limit(link: MemoryLink) -> None:
    files = PublicFiles(link, "secret")
    first = files.address(PICTURE)
    last = files.address(OutgoingFile(b"x" * MAX_KEPT_BYTES, "b.png", "image/png"))
    statuses = [served.status for address in (first, last) if (served := await files.serve(call(address))) is not None]
    assert statuses == [404, 200]


async def test_other_calls_are_left_to_the_adapter(link: MemoryLink) -> None:
    assert await PublicFiles(link, "secret").serve(HookCall(b"", query={"hub.mode": "subscribe"}, method="GET")) is None
