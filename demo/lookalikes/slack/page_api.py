"""The API of the web page: workspace state, a stream of changes, and the actions of people."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from demo.lookalikes.slack.interactions import acting, modals, writing
from demo.lookalikes.slack.interactions.interaction import Interaction, InteractionContext, NotPossibleError
from demo.lookalikes.slack.interactions.values import value_of
from demo.lookalikes.slack.state.messages import Message
from demo.lookalikes.slack.state.people import Person
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.views import views_of

_LATEST = 300
_LOCAL = ("127.0.0.1", "localhost", "[::1]")


def _introduced(person: Person) -> str:
    return f"{person.name} ({person.title})" if person.title else person.name


class PageApi:
    """Handles the page's requests. Anyone may act as anyone: it is a demo on loopback."""

    def __init__(
        self, context: InteractionContext, file_answer: Callable[[Workspace, str], web.Response]
    ) -> None:
        self._context = context
        self._workspace = context.workspace
        self._file_answer = file_answer
        self._closing = asyncio.Event()
        self._actions: dict[
            str, Callable[[Person, dict[str, Any]], Awaitable[Interaction | dict[str, Any] | None]]
        ] = {
            "types": self._types,
            "acts": self._acts,
            "suggests": self._suggests,
            "submits": self._submits,
            "closes": self._closes,
            "reacts": self._reacts,
            "edits": self._edits,
            "deletes": self._deletes,
            "home": self._home,
            "shortcut": self._shortcut,
        }

    def close(self) -> None:
        """End the streams."""
        self._closing.set()
        self._workspace.changes.close()

    async def state(self, request: web.Request) -> web.Response:
        """Return everything that one person can see now."""
        person = self._reader(request)
        workspace = self._workspace
        channels = []
        for channel in workspace.directory.channels.values():
            if person.id not in channel.members or channel.direct_with not in (None, person.id):
                continue
            living = workspace.conversations.living(channel.id)[-_LATEST:]
            channels.append(
                channel.wire(workspace.bot.id)
                | {"messages": [workspace.shown(message)["message"] for message in living]}
            )
        return web.json_response(
            {
                "workspace": workspace.name,
                "me": person.id,
                "welcome": [line.replace("{me}", _introduced(person)) for line in workspace.options.welcome],
                "bot": workspace.bot.id,
                "people": [each.wire() for each in workspace.directory.people.values()],
                "groups": [each.wire(with_users=True) for each in workspace.directory.groups.values()],
                "channels": channels,
                "ephemeral": [
                    {"channel": message.channel, "message": message.body}
                    for message in workspace.conversations.ephemeral.values()
                    if message.only_for == person.id
                ],
                "commands": [{"name": name, "hint": hint} for name, hint in workspace.options.commands],
                "shortcuts": [{"id": ident, "title": title} for ident, title in workspace.options.shortcuts],
                "message_shortcuts": [
                    {"id": ident, "title": title} for ident, title in workspace.options.message_shortcuts
                ],
                **views_of(workspace, person.id),
            }
        )

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Stream the changes that concern one person as server-sent events."""
        person = self._reader(request)
        answer = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
            }
        )
        await answer.prepare(request)
        async with self._workspace.changes.stream() as changes:
            await answer.write(b"retry: 500\nevent: ready\ndata: {}\n\n")
            while (item := await self._next(changes)) is not None and not self._closing.is_set():
                if item.get("only_for") in (None, person.id):
                    try:
                        await answer.write(f"data: {json.dumps(item)}\n\n".encode())
                    except ConnectionError:
                        break
        return answer

    async def file(self, request: web.Request) -> web.Response:
        """Return a file for the page."""
        return self._file_answer(self._workspace, request.match_info["file"])

    async def do(self, request: web.Request) -> web.Response:
        """Handle one action: `{as, do, …}`."""
        self._guard(request)
        try:
            body = await request.json()
            person = self._workspace.directory.person(str(body["as"]))
            action = self._actions[body["do"]]
            result = await action(person, body)
        except (KeyError, ValueError, LookupError) as error:
            raise web.HTTPBadRequest(text=f"invalid request from the page: {error}") from error
        except NotPossibleError as refused:
            return web.json_response({"ok": False, "error": str(refused)})
        if isinstance(result, dict):
            return web.json_response({"ok": True, **result})
        if result is not None and (result.error or result.errors):
            return web.json_response({"ok": False, "error": result.error, "errors": result.errors})
        return web.json_response({"ok": True})

    async def upload(self, request: web.Request) -> web.Response:
        """Handle a file from the composer, sent as a form."""
        self._guard(request)
        form = await request.post()
        person = self._workspace.directory.person(str(form["as"]))
        file = form["file"]
        if not isinstance(file, web.FileField):
            raise web.HTTPBadRequest(text="`file` must be a file")
        named = (file.filename, file.file.read())
        if not form.get("channel"):
            return web.json_response({"ok": True, "file": writing.keeps(self._context, person, named)["id"]})
        channel = self._workspace.directory.channel(str(form["channel"]))
        thread = str(form.get("thread_ts") or "") or None
        try:
            writing.uploads(self._context, person, channel, named, str(form.get("comment", "")), thread)
        except NotPossibleError as refused:
            return web.json_response({"ok": False, "error": str(refused)})
        return web.json_response({"ok": True})

    async def _next(self, changes: "asyncio.Queue[dict[str, Any] | None]") -> dict[str, Any] | None:
        try:
            return await asyncio.wait_for(changes.get(), 20)
        except TimeoutError:
            # A keep-alive, so that the connection does not look dead.
            return {"kind": "alive"}

    async def _types(self, person: Person, body: dict[str, Any]) -> Interaction:
        channel = self._workspace.directory.channel(body["channel"])
        return await writing.types(self._context, person, channel, body["text"], body.get("thread_ts"))

    async def _acts(self, person: Person, body: dict[str, Any]) -> Interaction:
        found = self._found(person, body)
        return await (found.choose(body.get("value")) if found.has_value else found.press())

    async def _suggests(self, person: Person, body: dict[str, Any]) -> dict[str, Any]:
        return {"options": await self._found(person, body).suggest(body["value"])}

    def _found(self, person: Person, body: dict[str, Any]) -> acting.FoundElement:
        target = self._target(person, body)
        return acting.find(self._context, person, target, body["action_id"], body["block_id"])

    async def _submits(self, person: Person, body: dict[str, Any]) -> Interaction:
        view = self._workspace.views[body["view"]]
        for given in body.get("values") or ():
            self._fill(person, view, given)
        return await modals.submit(self._context, person, view)

    def _fill(self, person: Person, view: dict[str, Any], given: dict[str, Any]) -> None:
        try:
            found = acting.find(self._context, person, view, given["action_id"], given["block_id"])
        except NotPossibleError:
            return  # The view was replaced since, and no longer has this field.
        chosen = given["value"]
        picked = chosen if isinstance(chosen, list) else [chosen]
        is_option = "external_select" in found.element["type"] and all(
            isinstance(one, dict) for one in picked
        )
        with_options = {**found.element, "options": picked} if is_option else found.element
        found.remember(value_of(self._workspace, with_options, chosen))

    async def _closes(self, person: Person, body: dict[str, Any]) -> Interaction:
        return await modals.dismiss(self._context, person, self._workspace.views[body["view"]])

    async def _reacts(self, person: Person, body: dict[str, Any]) -> None:
        writing.reacts(self._context, person, self._message(body), body["name"])

    async def _edits(self, person: Person, body: dict[str, Any]) -> None:
        writing.edits(self._context, person, self._message(body), body["text"])

    async def _deletes(self, person: Person, body: dict[str, Any]) -> None:
        writing.deletes(self._context, self._message(body))

    async def _home(self, person: Person, body: dict[str, Any]) -> None:
        modals.open_home(self._context, person, str(body.get("tab", "home")))

    async def _shortcut(self, person: Person, body: dict[str, Any]) -> Interaction:
        message = self._message(body) if body.get("ts") else None
        return await modals.use_shortcut(self._context, person, body["id"], message)

    def _message(self, body: dict[str, Any]) -> Message:
        ts = str(body["ts"])
        found = self._workspace.conversations.find(
            body["channel"], ts
        ) or self._workspace.conversations.ephemeral.get(ts)
        person = self._workspace.directory.person(str(body["as"]))
        if found is None or found.only_for not in (None, person.id):
            raise LookupError(f"{person.name} cannot see message {ts}")
        return found

    def _target(self, person: Person, body: dict[str, Any]) -> acting.Target:
        return self._workspace.views[body["view"]] if body.get("view") else self._message(body)

    def _reader(self, request: web.Request) -> Person:
        who = request.query.get("as", "")
        people = [each for each in self._workspace.directory.people.values() if not each.bot]
        return next((each for each in people if who in (each.id, each.name)), people[0])

    def _guard(self, request: web.Request) -> None:
        """Refuse requests that another site's page could send: only our own page may act."""
        origin = request.headers.get("Origin")
        host = request.headers.get("Host", "")
        if host.rpartition(":")[0] not in _LOCAL or (origin is not None and origin != f"http://{host}"):
            raise web.HTTPForbidden(text="only the look-alike's own page may do this")
