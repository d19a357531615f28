"""Loads modules whose models are then built when they are first used. The framework comes with many models for its
document, which a Host never makes: to build them takes as long as all the rest of loading it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict


@contextmanager
def models_unbuilt() -> Iterator[None]:
    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**before, defer_build=True)
    try:
        yield
    finally:
        BaseModel.model_config = before
