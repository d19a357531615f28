"""The calls of the simulated CardKit: cards as entities, and their numbered changes."""

import json
import time
from typing import Any

from parlour.testing.simulator import RateWindows

from .checks import check_card
from .world import Json, LarkRefusal, LarkWorld, SimulatedCard, shown_text

CHANGES_PER_SECOND = 10
MAX_SEQUENCE = 2**31 - 1


class LarkCards:
    def __init__(self, world: LarkWorld) -> None:
        self._world = world
        self._rates = RateWindows()

    async def card_create(self, call: Json) -> Json:
        if call["body"].get("type") != "card_json":
            raise LarkRefusal(300301, "type is invalid")
        card_id = f"card_{self._world.number():06}"
        self._world.cards[card_id] = SimulatedCard(card_id, self._read(call["body"].get("data")))
        return {"card_id": card_id}

    async def card_convert(self, call: Json) -> Json:
        message_id = call["body"].get("message_id")
        found = next((each for each in self._world.cards.values() if each.message_id == message_id), None)
        if found is None:
            raise LarkRefusal(300302, "the message has no card")
        return {"card_id": found.id}

    async def card_write(self, call: Json, card_id: str, element_id: str) -> Json:
        card = self._change(call, card_id)
        if not card.is_streaming:
            raise LarkRefusal(300309, "Card streaming is closed.")
        elements = card.content["body"]["elements"]
        element = next((each for each in elements if each.get("element_id") == element_id), None)
        if element is None or not isinstance(call["body"].get("content"), str):
            raise LarkRefusal(300313, "the element is not found")
        element["content"] = call["body"]["content"]
        self._show(card)
        return {}

    async def card_settings(self, call: Json, card_id: str) -> Json:
        card = self._change(call, card_id)
        card.content.setdefault("config", {}).update(json.loads(call["body"]["settings"]).get("config", {}))
        return {}

    async def card_replace(self, call: Json, card_id: str) -> Json:
        card = self._change(call, card_id)
        if card.is_streaming:
            raise LarkRefusal(300308, "the card is streaming")
        card.content = self._read(call["body"].get("card", {}).get("data"))
        self._show(card)
        return {}

    def _change(self, call: Json, card_id: str) -> SimulatedCard:
        card, sequence = self._world.cards.get(card_id), call["body"].get("sequence")
        if card is None:
            raise LarkRefusal(300302, "the card is not found")
        if not isinstance(sequence, int) or not 0 < sequence <= MAX_SEQUENCE:
            raise LarkRefusal(300301, "sequence is invalid")
        if wait := self._rates.seconds_to_wait({card_id: (CHANGES_PER_SECOND, 1.0)}):
            raise LarkRefusal(99991400, "request trigger frequency limit", 429, wait)
        if card.numbers and sequence <= card.numbers[-1]:
            raise LarkRefusal(300317, "ErrMsg: sequence number compare failed")
        card.numbers.append(sequence)
        card.times.append(time.monotonic())
        return card

    def _read(self, data: Any) -> Json:
        try:
            card = json.loads(data)
        except (ValueError, TypeError):
            raise LarkRefusal(300301, "data is no JSON") from None
        check_card(card)
        return dict(card)

    def _show(self, card: SimulatedCard) -> None:
        sent = self._world.sent_message(card.message_id)
        if sent is not None:
            sent.card = card.content
            sent.versions.append(shown_text("interactive", card.content))
