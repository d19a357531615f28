"""Reads the catalogue that is shipped as `catalogue.yaml`, on first use."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from parlour.core.model.model_config import Prices
from parlour.core.models.catalogue import CatalogueModel, ModelServiceKind

FILE = Path(__file__).with_name("catalogue.yaml")


class ShippedCatalogue:
    def kinds(self) -> Sequence[ModelServiceKind]:
        return list(self._kinds.values())

    def get(self, kind: str) -> ModelServiceKind | None:
        return self._kinds.get(kind)

    @cached_property
    def _kinds(self) -> Mapping[str, ModelServiceKind]:
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # about ten times as fast, where it is available
        read = yaml.load(FILE.read_text(encoding="utf-8"), loader)
        return {name: _kind(name, fields) for name, fields in read.items()}


def _kind(name: str, fields: dict[str, Any]) -> ModelServiceKind:
    models = tuple(_model(each, declaration) for each, declaration in fields.pop("models", {}).items())
    return ModelServiceKind(kind=name, **fields, models=models)


def _model(name: str, declaration: Mapping[str, Any]) -> CatalogueModel:
    return CatalogueModel(
        name=name,
        type=declaration.get("type", "llm"),
        context_window=declaration.get("window", 0),
        max_output_tokens=declaration.get("output", 0),
        abilities=tuple(declaration.get("abilities", ())),
        prices=Prices(*declaration["prices"]) if "prices" in declaration else None,
    )
