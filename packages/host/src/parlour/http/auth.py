"""What an endpoint asks of whoever calls it, as the framework takes it. Who that is, `principals` finds out."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from .principals import Authenticator, Need, Principal


def requires(*needs: Need) -> Callable[[HTTPConnection], Awaitable[Principal]]:
    """A dependency: the principal, if it may do this."""

    async def check(connection: HTTPConnection) -> Principal:
        authenticator: Authenticator = connection.app.state.authenticator
        return await authenticator.admit(connection, *needs)

    check.needs = needs  # type: ignore[attr-defined]  # for the document
    return check


Admin = Annotated[Principal, Depends(requires("admin"))]
Operator = Annotated[Principal, Depends(requires("operator"))]
Viewer = Annotated[Principal, Depends(requires("viewer"))]
ModelCallReader = Annotated[Principal, Depends(requires("model_calls"))]
"""Reads prompts and answers of models, as the setting `model_calls.visible_to` says."""
Chatter = Annotated[Principal, Depends(requires("chat"))]
Reader = Annotated[Principal, Depends(requires("viewer", "chat"))]
"""Sees everything with a viewer's rights, and its own with a chat key."""
