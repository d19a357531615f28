"""Reads the stream of a Tbox application: lanes of text and pictures, thinking, suggestions and errors."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from parlour_sdk.agents import http_agent as http

DEFAULT_LANE = "default"


class TboxReader(http.EventReader):
    def __init__(self) -> None:
        self._media: dict[str, str] = {}
        """Kind of each lane's content."""
        self._lanes: dict[str, str] = {}
        """Texts of the lanes besides the default one; each is a message of its own at the end."""

    def read(self, event: http.ServerEvent) -> Iterable[http.Update] | None:
        data = event.json_object()
        if event.name == "error":
            raise failure(data)
        lane, payload = str(data.get("lane") or DEFAULT_LANE), _payload(data.get("payload"))
        named = [http.SessionNamed(str(payload["conversationId"]))] if payload.get("conversationId") else []
        match data.get("type"):
            case "header":
                self._media[lane] = str(payload.get("mediaType") or "text")
                return named
            case "meta" | "charge" | "unknown":
                return named
            case "chunk":
                return [*named, *self._chunk(lane, payload)]
            case "thinking":
                text = str((payload.get("ext_data") or {}).get("text") or payload.get("text") or "")
                return [*named, http.ThinkingDelta(text)]
            case "revoke":
                return [*named, *self._revoke(lane)]
            case "followup":
                return [*named, http.Suggestions(_questions(payload))]
            case "error":
                raise failure(payload or data)
            case "end":
                return [*named, *self._other_lanes(), http.StreamEnd()]
        return None

    def _chunk(self, lane: str, payload: Mapping[str, Any]) -> list[http.Update]:
        if self._media.get(lane, "text") == "image":
            urls = payload.get("url") or payload.get("text") or []
            urls = [urls] if isinstance(urls, str) else urls
            return [_picture(str(url)) for url in urls]
        text = str(payload.get("text") or "")
        if lane == DEFAULT_LANE:
            return [http.AnswerDelta(text)]
        self._lanes[lane] = self._lanes.get(lane, "") + text
        return []

    def _revoke(self, lane: str) -> list[http.Update]:
        self._lanes.pop(lane, None)
        return [http.AnswerText("")] if lane == DEFAULT_LANE else []

    def _other_lanes(self) -> list[http.Update]:
        return [
            update
            for text in self._lanes.values()
            if text.strip()
            for update in (http.AnswerEnd(), http.AnswerDelta(text))
        ]


def failure(data: Mapping[str, Any]) -> http.ServiceFailure:
    """Returns the failure that Tbox describes."""
    message = str(data.get("description") or data.get("errorMsg") or data.get("message") or "")
    code = str(data.get("errorCode") or "")
    detail = f"{code}: {message}" if code and message else message or code
    lowered = f"{code} {message}".lower()
    if "conversation" in lowered or "会话" in lowered:
        return http.ServiceFailure("session_unknown", detail)
    if any(word in lowered for word in ("authorization", "unauthorized", "token", "鉴权", "令牌")):
        return http.ServiceFailure("auth", detail)
    return http.ServiceFailure("upstream", detail)


def _payload(payload: Any) -> dict[str, Any]:
    """Returns the payload, which is a JSON text. Raises ValueError if it is none."""
    value = json.loads(payload) if isinstance(payload, str) and payload.strip() else payload
    return value if isinstance(value, dict) else {"value": value}


def _questions(payload: Mapping[str, Any]) -> tuple[str, ...]:
    lists = [value for value in payload.values() if isinstance(value, list)]
    return tuple(each for value in lists for each in value if isinstance(each, str))


def _picture(url: str) -> http.AnswerFile:
    name = url.partition("?")[0].rpartition("/")[2] or "image"
    return http.AnswerFile(name, url=url, kind="image")
