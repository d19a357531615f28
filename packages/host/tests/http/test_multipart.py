"""Tests that multipart forms are parsed for every way in which they are split into chunks."""

import itertools
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parlour.http.errors import Problem
from parlour.http.multipart import MultipartForm, read_form

TYPE = "multipart/form-data; boundary=edge"


async def in_chunks(body: bytes, sizes: list[int]) -> AsyncIterator[bytes]:
    """Yields the body in chunks of these sizes, as a server does. A chunk may be empty."""
    for size in itertools.cycle([*sizes, 1]):
        yield body[:size]
        body = body[size:]
        if not body:
            return


def encoded(content: bytes, name: str = "plugin.zip", **texts: str) -> tuple[bytes, str]:
    request = httpx.Request("POST", "http://here", files={"file": (name, content)}, data=texts)
    return request.read(), request.headers["content-type"]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "upload"


async def read(body: bytes, target: Path, content_type: str = TYPE, sizes: list[int] | None = None) -> MultipartForm:
    return await read_form(in_chunks(body, sizes or [len(body) or 1]), content_type, "file", target)


@settings(max_examples=100, deadline=None)
@given(
    content=st.binary(max_size=300) | st.sampled_from([b"\r\n--edg", b"\r\n--\r\n", b"--edge", b"\r\n"]),
    sizes=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    text=st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40),
)
async def test_a_form_does_not_depend_on_its_chunks(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, sizes: list[int], text: str
) -> None:
    target = tmp_path_factory.mktemp("form") / "upload"
    body, content_type = encoded(content, granted=text)

    form = await read(body, target, content_type, sizes)

    assert (form.file_name, form.texts) == ("plugin.zip", {"granted": text})
    assert target.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "shown"), [("../../etc/passwd", "passwd"), ("C:\\a\\b.zip", "b.zip"), ("naïve.zip", "naïve.zip")]
)
async def test_the_folders_of_a_file_name_are_removed(target: Path, name: str, shown: str) -> None:
    body = f'--edge\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\nx\r\n--edge--'.encode()
    body = body.replace(b"\\", b"\\\\")

    assert (await read(body, target)).file_name == shown


HEAD = b'--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\n'
BROKEN = {
    "nothing": (b"", TYPE, "ends before"),
    "no end": (HEAD + b"value", TYPE, "ends before"),
    "another boundary": (b"--other--", TYPE, "ends before"),
    "no boundary": (b"--edge--", "multipart/form-data", "no boundary"),
    "a part without a name": (b"--edge\r\nX-Y: z\r\n\r\nvalue\r\n--edge--", TYPE, "no name"),
    "headers without an end": (b"--edge\r\n" + b"x" * 10_000, TYPE, "longer than"),
    "a text without an end": (HEAD + b"x" * 100_000, TYPE, "longer than"),
    "a text that is not UTF-8": (HEAD + b"\xff\r\n--edge--", TYPE, "UTF-8"),
    "too many parts": ((HEAD + b"\r\n") * 21 + b"--edge--", TYPE, "at most 20"),
    "a file in another field": (
        b'--edge\r\nContent-Disposition: form-data; name="b"; filename="x"\r\n\r\nv\r\n--edge--',
        TYPE,
        "field named 'file'",
    ),
    "two files": (
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nv\r\n' * 2 + b"--edge--",
        TYPE,
        "field named 'file'",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_an_invalid_form_is_refused_with_the_reason(target: Path, fault: str) -> None:
    body, content_type, named = BROKEN[fault]

    with pytest.raises(Problem, match=named) as refused:
        await read(body, target, content_type)

    assert refused.value.status == 422
