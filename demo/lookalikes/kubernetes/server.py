"""The HTTP server: authenticates each request, authorizes it by RBAC, and answers it."""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
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
from demo.lookalikes.kubernetes.execution import Execs, run_exec
from demo.lookalikes.kubernetes.faults import Faults, RecordedRequest
from demo.lookalikes.kubernetes.listing import body as list_body
from demo.lookalikes.kubernetes.listing import page
from demo.lookalikes.kubernetes.logs import Logs, read_log
from demo.lookalikes.kubernetes.objects import encode
from demo.lookalikes.kubernetes.openapi import described
from demo.lookalikes.kubernetes.requests import ResourceRequest, read_request, wanted_attributes
from demo.lookalikes.kubernetes.reviews import REVIEWS, answered
from demo.lookalikes.kubernetes.scaling import read_scale
from demo.lookalikes.kubernetes.shapes import shape_of
from demo.lookalikes.kubernetes.watching import Watch
from demo.lookalikes.kubernetes.writing import read_body, write

TOKEN_PREFIX = "/with-token/"  # an address may contain its token: /with-token/TOKEN/api/v1/pods
_PUBLIC = ("/healthz", "/livez", "/readyz", "/version")
_LARGEST_BODY = 3 * 1024 * 1024  # bytes, as in the real server


class ApiServer:
    """The handler of all requests. `requests` holds the last ones, oldest first."""

    def __init__(
        self,
        cluster: Cluster,
        tokens: Mapping[str, User],
        logs: Logs | None,
        faults: Faults,
        now: Callable[[], datetime],
        *,
        recorded: int = 10_000,
    ) -> None:
        self._cluster = cluster
        self._tokens = tokens
        self.logs = logs
        self._faults = faults
        self._now = now
        self._authorizer = Authorizer(cluster.store, cluster.kinds)
        self.execs: Execs | None = None
        self.requests: deque[RecordedRequest] = deque(maxlen=recorded)

    def application(self) -> web.Application:
        """Return the application, which has a single route."""
        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self._answer)
        return application

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        try:
            return await self._handle(request)
        except RefusedError as refusal:
            headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
            return _json(refusal.code, encode(refusal.status()), headers)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        await self._faults.delay()
        path, authorization = _path_and_token(request)
        user = token_user(self._tokens, authorization)
        user = impersonated(self._authorizer, user, list(request.headers.items()))
        text = await request.read()
        body = read_body(text, request.content_type) if text else None
        query = dict(request.query)
        dry_runs = request.query.getall("dryRun", [])
        recorded = RecordedRequest(
            method=request.method,
            path=path,
            query=query,
            user=user.name,
            dry_run=bool(dry_runs),
            body=body,
        )
        self.requests.append(recorded)
        self._faults.check(recorded)
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
        try:
            parsed = read_request(self._cluster.kinds, request.method, path, query, dry_runs)
        except RefusedError as refusal:
            wanted = wanted_attributes(request.method, path, query)
            if refusal.code == 404 and wanted is not None:
                self._permit(user, wanted)  # first, as in the real server
            raise
        self._permit(user, _attributes(parsed))
        return await self._perform(request, parsed, user, body)

    def _permit(self, user: User, attributes: Attributes) -> None:
        if attributes.path and "system:authenticated" in user.groups:
            return  # discovery is open to every authenticated user
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

    async def _perform(
        self, request: web.Request, parsed: ResourceRequest, user: User, body: Any
    ) -> web.StreamResponse:
        cluster = self._cluster
        shape = shape_of(request.headers.get("Accept", ""), parsed.kind, self._now())
        match parsed.verb, parsed.subresource:
            case "watch", "":
                return await Watch(cluster.store, parsed, self._faults, shape.one).answer(request)
            case "list", "":
                part = page(cluster.store, parsed)
                return _json(200, shape.many(parsed, part) if shape.many else list_body(parsed, part))
            case "get", ("" | "status" | "resize" | "ephemeralcontainers"):
                return _json(200, shape.one(cluster.get(parsed.kind, parsed.namespace, parsed.name)))
            case "get", "scale":
                stored = cluster.get(parsed.kind, parsed.namespace, parsed.name)
                return _json(200, encode(read_scale(parsed.kind, stored.tree)))
            case (("get" | "create"), "exec"):
                for verb in ("get", "create"):  # a websocket is opened with GET, and runs something
                    self._permit(user, replace(_attributes(parsed), verb=verb))
                return await run_exec(cluster, self.execs, parsed, request)
            case "get", "log":
                text = await read_log(cluster, self.logs, parsed, self._now())
                return web.Response(body=text, content_type="text/plain")
            case _:
                code, answer = write(cluster, parsed, user, body, request.content_type)
                return _json(code, answer)


def _path_and_token(request: web.Request) -> tuple[str, str | None]:
    """Return the path and the Authorization header, or the one that the token in the path stands for."""
    header = request.headers.get("Authorization")
    if not request.path.startswith(TOKEN_PREFIX):
        return request.path, header
    token, _, rest = request.path.removeprefix(TOKEN_PREFIX).partition("/")
    return f"/{rest}", header or f"Bearer {token}"


def _attributes(parsed: ResourceRequest) -> Attributes:
    return Attributes(
        verb=parsed.verb,
        group=parsed.kind.group,
        resource=parsed.resource,
        namespace=parsed.namespace or (parsed.name if parsed.kind.listing == "namespaces" else ""),
        name=parsed.name or _named_by_field(parsed),
    )


def _named_by_field(parsed: ResourceRequest) -> str:
    """Return the single name that a list or watch selects: RBAC's resourceNames apply to it too."""
    prefix = "metadata.name="
    field = parsed.query.get("fieldSelector", "")
    return field.removeprefix(prefix) if field.startswith(prefix) and "," not in field else ""


def _public(path: str) -> web.Response:
    if path == "/version":
        return _json(200, encode(VERSION))
    return web.Response(text="ok")


def _json(code: int, body: bytes, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(status=code, body=body, content_type="application/json", headers=headers)
