"""Imports modules with pydantic models that are built on first use. FastAPI has many models for its OpenAPI document,
which a running Host never builds; building them would take as long as the rest of the import."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict


@contextmanager
def deferred_model_build() -> Iterator[None]:
    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**before, defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = before
