"""FastAPI dependencies that require a scope of the calling principal. `principals` authenticates it."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from .principals import AccessScope, Authenticator, Principal


def requires(*needs: AccessScope) -> Callable[[HTTPConnection], Awaitable[Principal]]:
    """Builds a dependency that returns the principal if it has one of these scopes."""

    async def check(connection: HTTPConnection) -> Principal:
        authenticator: Authenticator = connection.app.state.authenticator
        return await authenticator.authorize(connection, *needs)

    check.needs = needs  # type: ignore[attr-defined]  # for the OpenAPI document
    return check


Owner = Annotated[Principal, Depends(requires("owner"))]
Admin = Annotated[Principal, Depends(requires("admin"))]
Operator = Annotated[Principal, Depends(requires("operator"))]
Viewer = Annotated[Principal, Depends(requires("viewer"))]
ModelCallReader = Annotated[Principal, Depends(requires("model_calls"))]
"""Principal that may read prompts and answers of models, according to the setting `model_calls.visible_to`."""
ChatUser = Annotated[Principal, Depends(requires("chat"))]
Reader = Annotated[Principal, Depends(requires("viewer", "chat"))]
"""Principal that sees everything as a viewer, or only its own conversations with a chat key."""
