"""Accounts of other people. Admins manage operators and viewers; admins and owners are made by owners."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from parlour.core.access.users import Role, User, Users

from ..accounts.refusals import accepted
from ..auth import Admin, Principal
from ..errors import Problem, not_found

UserId = Annotated[str, Path(max_length=64)]


class NewUser(BaseModel):
    model_config = ConfigDict(extra="forbid")

    email: str = Field(max_length=254)
    name: str = Field(default="", max_length=200)
    role: Role = "viewer"
    password: str = Field(max_length=1024)


class ChangedUser(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, max_length=200)
    role: Role | None = None
    enabled: bool | None = None
    password: str | None = Field(default=None, max_length=1024)


def router(users: Users) -> APIRouter:
    routes = APIRouter(tags=["users"])

    async def existing(user_id: str) -> User:
        user = await users.get(user_id)
        if user is None:
            raise not_found(f"user '{user_id}'", "GET /api/v1/users lists them")
        return user

    def check(principal: Principal, *roles: Role | None) -> None:
        if {"owner", "admin"} & set(roles) and not principal.may("owner"):
            raise Problem(403, "forbidden", "only an owner manages admins and owners")

    @routes.post("/users", status_code=201)
    async def create_user(body: NewUser, principal: Admin) -> dict[str, Any]:
        check(principal, body.role)
        made = users.create(principal.owner, body.email, body.name, body.role, body.password)
        return _shown(await accepted(made))

    @routes.get("/users")
    async def list_users(principal: Admin) -> dict[str, Any]:
        return {"items": [_shown(user) for user in await users.all()], "next_cursor": None}

    @routes.get("/users/{user_id}")
    async def read_user(user_id: UserId, principal: Admin) -> dict[str, Any]:
        return _shown(await existing(user_id))

    @routes.put("/users/{user_id}")
    async def change_user(user_id: UserId, body: ChangedUser, principal: Admin) -> dict[str, Any]:
        """What is not named stays as it is."""
        user = await existing(user_id)
        check(principal, user.role, body.role)
        change = users.change(principal.owner, user, body.name, body.role, body.enabled, body.password)
        return _shown(await accepted(change))

    @routes.delete("/users/{user_id}", status_code=204)
    async def delete_user(user_id: UserId, principal: Admin) -> Response:
        user = await existing(user_id)
        check(principal, user.role)
        await accepted(users.remove(principal.owner, user))
        return Response(status_code=204)

    return routes


def _shown(user: User) -> dict[str, Any]:
    return {"user_id": user.user_id, **user.shown(), "created_at": user.created_at}
