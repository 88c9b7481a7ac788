"""The HTTP server of the look-alike: routes, bodies and headers."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from demo.lookalikes.elasticsearch.faults import Faults
from demo.lookalikes.elasticsearch.filter_paths import filtered
from demo.lookalikes.elasticsearch.indices import Indices
from demo.lookalikes.elasticsearch.mappings import Json
from demo.lookalikes.elasticsearch.refusals import RefusalError, not_imitated
from demo.lookalikes.elasticsearch.searching import Searches, seconds_of

VERSION = "8.19.21"  # the version that it reports, and that it was compared with
_BODY_LIMIT = 100 * 1024 * 1024  # http.max_content_length
_PARAMETERS = {"fields", "filter_path", "keep_alive", "ignore_unavailable", "refresh", "index", "format", "h"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def application(indices: Indices, searches: Searches, faults: Faults) -> web.Application:
    """Return the web application over a set of indices."""
    routes = _Routes(indices, searches, faults)

    @web.middleware
    async def answer(request: web.Request, handler: Handler) -> web.StreamResponse:
        return await routes.answer(request, handler)

    app = web.Application(client_max_size=_BODY_LIMIT, middlewares=[answer])
    add = app.router.add_route
    for method in ("GET", "POST"):
        add(method, "/_search", routes.search)
        add(method, "/{index}/_search", routes.search)
        add(method, "/_msearch", routes.msearch)
        add(method, "/{index}/_field_caps", routes.field_caps)
        add(method, "/_count", routes.count)
        add(method, "/{index}/_count", routes.count)
        add(method, "/_refresh", routes.refresh)
        add(method, "/{index}/_refresh", routes.refresh)
    for method in ("POST", "PUT"):
        add(method, "/_bulk", routes.bulk)
        add(method, "/{index}/_bulk", routes.bulk)
        add(method, "/_index_template/{name}", routes.put_template)
    add("POST", "/{index}/_pit", routes.open_point)
    add("DELETE", "/_pit", routes.close_point)
    add("GET", "/_nodes", routes.nodes)
    add("GET", "/_cat/health", routes.cat_health)
    add("GET", "/_cluster/health", routes.health)
    add("GET", "/_resolve/index/{index}", routes.resolve)
    add("PUT", "/{index}", routes.create)
    add("DELETE", "/{index}", routes.delete)
    return app


class _Routes:
    def __init__(self, indices: Indices, searches: Searches, faults: Faults) -> None:
        self._indices = indices
        self._searches = searches
        self._faults = faults

    async def answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Do what all requests share: faults, errors in Elasticsearch's form, and headers."""
        await self._faults.wait()
        if self._faults.is_down:
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=503)
        response: web.StreamResponse
        try:
            if unknown := sorted(set(request.query) - _PARAMETERS):
                raise not_imitated(f"the parameter `{unknown[0]}`")
            response = await handler(request)
        except RefusalError as refusal:
            response = _json(request, refusal.body(), status=refusal.status)
        except web.HTTPException as error:
            route = not_imitated(f"{request.method} {request.path}")
            response = _json(request, route.body(), status=error.status if error.status == 413 else 400)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            unread = RefusalError(400, "parsing_exception", f"cannot read the body: {error!r}")
            response = _json(request, unread.body(), status=400)
        response.headers["X-Elastic-Product"] = "Elasticsearch"
        return response

    async def search(self, request: web.Request) -> web.Response:
        self._fail_if_injected()
        # In a thread: the loop may be the bot's own, and a search over many documents takes a while.
        body = await _body(request)
        found = await asyncio.to_thread(self._searches.search, request.match_info.get("index"), body)
        return _json(request, self._faults.apply(found))

    async def msearch(self, request: web.Request) -> web.Response:
        self._fail_if_injected()
        lines = _lines(await request.text())
        answers: list[Json] = []
        for header, body in zip(lines[::2], lines[1::2], strict=True):
            try:
                found = await asyncio.to_thread(self._searches.search, header.get("index"), body)
                answers.append({**self._faults.apply(found), "status": 200})
            except RefusalError as refusal:
                answers.append(refusal.body())
        return _json(request, {"took": 1, "responses": answers})

    async def field_caps(self, request: web.Request) -> web.Response:
        self._fail_if_injected()
        if not (names := request.query.get("fields")):  # 7.17 reads no others
            raise RefusalError(400, "illegal_argument_exception", "specified fields can't be null or empty")
        fields = names.split(",")
        return _json(request, self._searches.field_caps(request.match_info["index"], fields))

    async def resolve(self, request: web.Request) -> web.Response:
        self._fail_if_injected()
        names = sorted(
            index.name for index in self._indices.resolve(request.match_info["index"], lenient=True)
        )
        found = [{"name": name, "attributes": ["open"]} for name in names]
        return _json(request, {"indices": found, "aliases": [], "data_streams": []})

    async def count(self, request: web.Request) -> web.Response:
        self._fail_if_injected()
        count = self._searches.count(request.match_info.get("index", "*"), await _body(request))
        return _json(request, {"count": count})

    async def open_point(self, request: web.Request) -> web.Response:
        self._fail_if_injected()
        name = self._searches.open_point(request.match_info["index"], seconds_of(request.query["keep_alive"]))
        return _json(request, {"id": name})

    async def close_point(self, request: web.Request) -> web.Response:
        is_closed = self._searches.close_point((await _body(request))["id"])
        return _json(request, {"succeeded": is_closed, "num_freed": int(is_closed)})

    async def bulk(self, request: web.Request) -> web.Response:
        items: list[Json] = []
        lines = iter(_lines(await request.text()))
        for action in lines:
            ((operation, meta),) = action.items()
            if operation not in ("create", "index"):
                raise not_imitated(f"`{operation}` in _bulk")
            name = meta.get("_index") or request.match_info.get("index", "")
            source = next(lines, None)
            if source is None:
                raise RefusalError(400, "illegal_argument_exception", "the last action has no document")
            try:
                document = self._indices.add(name, source, id_=meta.get("_id"))
                result = {"_index": name, "_id": document.id, "result": "created", "status": 201}
            except RefusalError as refusal:
                result = {"_index": name, "status": refusal.status, "error": refusal.body()["error"]}
            items.append({operation: result})
        has_errors = any("error" in result for item in items for result in item.values())
        return _json(request, {"took": 1, "errors": has_errors, "items": items})

    async def refresh(self, request: web.Request) -> web.Response:
        # There is nothing to do: documents are searchable as soon as they are indexed.
        shards = len(self._indices.resolve(request.match_info.get("index", "*")))
        return _json(request, {"_shards": {"total": shards, "successful": shards, "failed": 0}})

    async def put_template(self, request: web.Request) -> web.Response:
        self._indices.put_template(request.match_info["name"], await _body(request))
        return _json(request, {"acknowledged": True})

    async def create(self, request: web.Request) -> web.Response:
        name = request.match_info["index"]
        self._indices.create(name, await _body(request))
        return _json(request, {"acknowledged": True, "shards_acknowledged": True, "index": name})

    async def delete(self, request: web.Request) -> web.Response:
        is_lenient = request.query.get("ignore_unavailable") == "true"
        self._indices.delete(request.match_info["index"], lenient=is_lenient)
        return _json(request, {"acknowledged": True})

    async def nodes(self, request: web.Request) -> web.Response:
        return _json(request, {"cluster_name": "demo", "nodes": {"look-alike": {"version": VERSION}}})

    async def health(self, request: web.Request) -> web.Response:
        shards = len(self._indices.indices)
        return _json(
            request, {"cluster_name": "demo", "status": "green", "timed_out": False, "active_shards": shards}
        )

    async def cat_health(self, request: web.Request) -> web.Response:
        return web.Response(text=f"demo green 1 1 {len(self._indices.indices)}\n")

    def _fail_if_injected(self) -> None:
        if status := self._faults.status():
            raise RefusalError(status, "look_alike_exception", "failed by fault injection")


async def _body(request: web.Request) -> Json:
    text = await request.text()
    if not text.strip():
        return {}
    found: Json = _read(text)
    return found


def _lines(text: str) -> list[Json]:
    if not text.endswith("\n"):
        raise RefusalError(
            400, "illegal_argument_exception", "The bulk request must be terminated by a newline [\\n]"
        )
    return [_read(line) for line in text.split("\n") if line.strip()]


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RefusalError(400, "json_parse_exception", str(error)) from error


def _json(request: web.Request, answer: Json, *, status: int = 200) -> web.Response:
    if status == 200 and (paths := request.query.get("filter_path")):  # an error stays whole
        answer = filtered(answer, paths.split(","))
    wants = request.headers.get("accept", "")
    kind = "application/vnd.elasticsearch+json" if "vnd.elasticsearch" in wants else "application/json"
    response = web.Response(text=json.dumps(answer, ensure_ascii=False), status=status)
    response.headers["content-type"] = f"{kind};compatible-with=8" if "vnd" in kind else kind
    return response
