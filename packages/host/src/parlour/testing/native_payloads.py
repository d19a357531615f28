"""Records the real payloads of a platform with the decoded events, and plays them back.

A sample is a JSON file: `{"event": type, "native": payload, "decoded": event}`. The recorder stands between an adapter
and its Link and writes one sample for each event that came with the platform's own object.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlour.core.platforms.port import ConnectionState, FileContent, HostLink, IncomingEvent
from parlour_sdk.protocol.people import ChatType

SECRET_NAMES = ("token", "secret", "cookie", "authorization", "csrf")
HIDDEN = "hidden"


@dataclass(frozen=True)
class Sample:
    name: str
    event: str
    native: Any
    decoded: dict[str, Any]


class Recorder:
    """Passes everything on to a Link and records the incoming events."""

    def __init__(self, link: HostLink, folder: Path) -> None:
        self._link = link
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._number = len(list(folder.glob("*.json")))

    @property
    def bot_id(self) -> str:
        return self._link.bot_id

    @property
    def config(self) -> Mapping[str, Any]:
        return self._link.config

    async def received(self, *incoming: IncomingEvent, cursor: str | None = None) -> None:
        for each in incoming:
            if each.event.native is not None:
                self._write(each)
        await self._link.receive(*incoming, cursor=cursor)

    async def cursor(self) -> str | None:
        return await self._link.cursor()

    def state(self, state: ConnectionState, error: str = "") -> None:
        self._link.report_status(state, error)

    async def content(self, artifact_id: str) -> FileContent:
        return await self._link.content(artifact_id)

    async def held_replies(self, chat_type: ChatType, chat_id: str) -> int:
        return await self._link.held_replies(chat_type, chat_id)

    async def reply_handle(self, chat_type: ChatType, chat_id: str) -> str:
        return await self._link.reply_handle(chat_type, chat_id)

    def _write(self, incoming: IncomingEvent) -> None:
        self._number += 1
        name = f"{self._number:03}_{incoming.event.type.replace('.', '_')}"
        write_sample(self._folder, Sample(name, incoming.event.type, incoming.event.native, decoded(incoming)))


def decoded(incoming: IncomingEvent) -> dict[str, Any]:
    """Returns an event in the form of a sample."""
    return incoming.event.model_dump(mode="json", exclude_none=True)


def write_sample(folder: Path, sample: Sample) -> None:
    document = {"event": sample.event, "native": without_secrets(sample.native), "decoded": sample.decoded}
    text = json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True)
    (folder / f"{sample.name}.json").write_text(text + "\n", encoding="utf-8")


def read_samples(folder: Path) -> list[Sample]:
    files = sorted(folder.glob("*.json"))
    documents = [(file.stem, json.loads(file.read_text(encoding="utf-8"))) for file in files]
    return [Sample(name, each["event"], each["native"], each["decoded"]) for name, each in documents]


def without_secrets(value: Any) -> Any:
    match value:
        case dict():
            return {name: HIDDEN if _is_secret(name) else without_secrets(each) for name, each in value.items()}
        case list():
            return [without_secrets(each) for each in value]
    return value


def _is_secret(name: str) -> bool:
    return any(fragment in name.lower() for fragment in SECRET_NAMES)
