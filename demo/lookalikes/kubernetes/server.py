"""This file is the HTTP face: it finds out who asks for what, lets RBAC judge it, and answers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from aiohttp import web

from demo.lookalikes.kubernetes.authorization import (
    Attributes,
    Authorizer,
    User,
    impersonated,
    refused,
    token_user,
)
from demo.lookalikes.kubernetes.cluster import Cluster
from demo.lookalikes.kubernetes.discovery import VERSION, discovered
from demo.lookalikes.kubernetes.errors import RefusedError, bad_request
from demo.lookalikes.kubernetes.faults import Faults, Seen
from demo.lookalikes.kubernetes.listing import body as list_body
from demo.lookalikes.kubernetes.listing import page
from demo.lookalikes.kubernetes.logs import Logs, read_log
from demo.lookalikes.kubernetes.objects import encode
from demo.lookalikes.kubernetes.openapi import described
from demo.lookalikes.kubernetes.requests import Asked, read_request
from demo.lookalikes.kubernetes.reviews import REVIEWS, answered
from demo.lookalikes.kubernetes.scaling import read_scale
from demo.lookalikes.kubernetes.shapes import shape_of
from demo.lookalikes.kubernetes.watching import Watch
from demo.lookalikes.kubernetes.writing import read_body, write

TOKEN_PREFIX = "/with-token/"  # an address may carry its token: /with-token/TOKEN/api/v1/pods
_PUBLIC = ("/healthz", "/livez", "/readyz", "/version")
_LARGEST_BODY = 3 * 1024 * 1024  # bytes, as the real server


class Front:
    """Answers every request. `seen` holds the last requests, oldest first."""

    def __init__(
        self,
        cluster: Cluster,
        tokens: Mapping[str, User],
        logs: Logs | None,
        faults: Faults,
        now: Callable[[], datetime],
        *,
        remembered: int = 10_000,
    ) -> None:
        self._cluster = cluster
        self._tokens = tokens
        self._logs = logs
        self._faults = faults
        self._now = now
        self._authorizer = Authorizer(cluster.store, cluster.kinds)
        self.seen: deque[Seen] = deque(maxlen=remembered)

    def application(self) -> web.Application:
        """Return the application with its one route."""
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._judged(request)
        except RefusedError as refusal:
            headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
            return _json(refusal.code, encode(refusal.status()), headers)

    async def _judged(self, request: web.Request) -> web.StreamResponse:
        await self._faults.delay()
        path, said = _path_and_token(request)
        user = token_user(self._tokens, said)
        user = impersonated(self._authorizer, user, list(request.headers.items()))
        text = await request.read()
        body = read_body(text, request.content_type) if text else None
        query = dict(request.query)
        dry_runs = request.query.getall("dryRun", [])
        seen = Seen(
            method=request.method,
            path=path,
            query=query,
            user=user.name,
            dry_run=bool(dry_runs),
            body=body,
        )
        self.seen.append(seen)
        self._faults.strike(seen)
        if path in _PUBLIC or path.startswith(("/livez/", "/readyz/")):
            return _public(path)
        parts = tuple(part for part in path.split("/") if part)
        if (
            parts[:1] == ("apis",)
            and len(parts) == 4
            and (review := REVIEWS.get((parts[1], parts[2], parts[3])))
        ):
            return self._review(user, review, parts, request.method, body)
        if parts[:2] == ("openapi", "v3"):
            self._permit(user, Attributes(verb=request.method.lower(), path=path))
            return _json(200, encode(described(self._cluster.kinds, parts[2:])))
        if len(parts) <= (2 if parts[:1] == ("api",) else 3):
            self._permit(user, Attributes(verb=request.method.lower(), path=path))
            return _json(200, encode(discovered(self._cluster.kinds, path)))
        asked = read_request(self._cluster.kinds, request.method, path, query, dry_runs)
        self._permit(user, _deed(asked))
        return await self._done(request, asked, user, body)

    def _permit(self, user: User, attributes: Attributes) -> None:
        if attributes.path and "system:authenticated" in user.groups:
            return  # discovery is open to whoever has a token
        if not self._authorizer.decide(user, attributes).allowed:
            raise refused(user, attributes)

    def _review(self, user: User, kind: str, parts: tuple[str, ...], method: str, body: Any) -> web.Response:
        if method != "POST":
            raise RefusedError(
                405, "MethodNotAllowed", "the server does not allow this method on the requested resource"
            )
        if not isinstance(body, dict):
            raise bad_request("the request body holds no review")
        if not kind.startswith("Self"):
            self._permit(user, Attributes(verb="create", group=parts[1], resource=parts[3]))
        return _json(201, encode(answered(self._authorizer, user, kind, body)))

    async def _done(self, request: web.Request, asked: Asked, user: User, body: Any) -> web.StreamResponse:
        cluster = self._cluster
        shape = shape_of(request.headers.get("Accept", ""), asked.kind, self._now())
        match asked.verb, asked.subresource:
            case "watch", "":
                return await Watch(cluster.store, asked, self._faults, shape.one).answer(request)
            case "list", "":
                part = page(cluster.store, asked)
                return _json(200, shape.many(asked, part) if shape.many else list_body(asked, part))
            case "get", ("" | "status" | "resize"):
                return _json(200, shape.one(cluster.get(asked.kind, asked.namespace, asked.name)))
            case "get", "scale":
                stored = cluster.get(asked.kind, asked.namespace, asked.name)
                return _json(200, encode(read_scale(asked.kind, stored.tree)))
            case "get", "log":
                text = await read_log(cluster, self._logs, asked, self._now())
                return web.Response(body=text, content_type="text/plain")
            case _:
                code, answer = write(cluster, asked, user, body, request.content_type)
                return _json(code, answer)


def _path_and_token(request: web.Request) -> tuple[str, str | None]:
    """Return the path and the Authorization header, or what stands in its place in the path."""
    said = request.headers.get("Authorization")
    if not request.path.startswith(TOKEN_PREFIX):
        return request.path, said
    token, _, rest = request.path.removeprefix(TOKEN_PREFIX).partition("/")
    return f"/{rest}", said or f"Bearer {token}"


def _deed(asked: Asked) -> Attributes:
    return Attributes(
        verb=asked.verb,
        group=asked.kind.group,
        resource=asked.resource,
        namespace=asked.namespace or (asked.name if asked.kind.listing == "namespaces" else ""),
        name=asked.name or _named_by_field(asked),
    )


def _named_by_field(asked: Asked) -> str:
    """Return the one name that a list or watch selects: RBAC's resourceNames hold for it too."""
    prefix = "metadata.name="
    field = asked.query.get("fieldSelector", "")
    return field.removeprefix(prefix) if field.startswith(prefix) and "," not in field else ""


def _public(path: str) -> web.Response:
    if path == "/version":
        return _json(200, encode(VERSION))
    return web.Response(text="ok")


def _json(code: int, body: bytes, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=code, body=body, content_type="application/json", headers=headers)
