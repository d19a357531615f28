"""Prevents lost updates: responses carry the version as `ETag`, changes may require it with `If-Match`.

A tag contains a digest of each part, so that the error can name the changed parts without storing anything.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import Header, Response

from parlour.core.encoding import dumps

from .errors import Problem

DIGEST_CHARACTERS = 12
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=20_000,
        description="The `ETag` of the answer that this change was made from; 412 if it was changed meanwhile",
    ),
]
Parts = Mapping[str, Any]


def compute_etag(parts: Parts) -> str:
    return f'"{"".join(_digest(parts[name]) for name in sorted(parts))}"'


def set_etag(response: Response, parts: Parts) -> None:
    response.headers["ETag"] = compute_etag(parts)


def check_if_match(subject: str, if_match: str | None, parts: Parts) -> None:
    """Raises a Problem if the object is not the version in `if_match`. No header and `*` both match any version."""
    tags = [_strip_tag(each) for each in (if_match or "*").split(",")]
    if "*" in tags or _strip_tag(compute_etag(parts)) in tags:
        return
    changed = _changed_parts(tags[0], parts)
    changed_text = f": {', '.join(changed)}" if changed else ""
    message = (
        f"{subject} was changed meanwhile{changed_text}; "
        "read it again and change it as it is now, or leave out If-Match"
    )
    raise Problem(412, "changed_meanwhile", message, {"changed": changed})


def _strip_tag(tag: str) -> str:
    """Removes the quotes and the weak mark of a tag: a proxy that compresses responses makes every tag weak, but the
    version is still the one that was sent."""
    return tag.strip().removeprefix("W/").strip('"')


def _changed_parts(tag: str, parts: Parts) -> list[str]:
    """Returns the names of the changed parts; empty if the tag belongs to another kind of object or another release."""
    names = sorted(parts)
    if len(tag) != len(names) * DIGEST_CHARACTERS:
        return []
    digests = (tag[start : start + DIGEST_CHARACTERS] for start in range(0, len(tag), DIGEST_CHARACTERS))
    return [name for name, digest in zip(names, digests, strict=True) if digest != _digest(parts[name])]


def _digest(value: Any) -> str:
    return blake2b(dumps(value).encode(), digest_size=DIGEST_CHARACTERS // 2).hexdigest()
