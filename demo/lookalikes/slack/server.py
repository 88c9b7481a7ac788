"""The look-alike's HTTP server and its routes."""

from pathlib import Path

from aiohttp import web

from demo.lookalikes.slack.delivery.sockets import Sockets
from demo.lookalikes.slack.page_api import PageApi
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import read_arguments, token_of
from demo.lookalikes.slack.web.calling import Caller
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.response_urls import respond

_PAGE = Path(__file__).parent / "page"
_MOST_BYTES = 64 * 1024 * 1024


class Front:
    """Handlers outside the Web API and the page: response URLs, uploads, private files."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def respond(self, request: web.Request) -> web.Response:
        """Handle a response URL: 5 responses within half an hour."""
        if self._workspace.faults.down:
            return web.Response(status=503)
        try:
            given = await read_arguments(request)
            ticket = self._workspace.tickets.use(request.match_info["ticket"], self._workspace.clock.now())
            respond(self._workspace, ticket, given)
        except SlackError as refusal:
            return web.json_response(refusal.wire(), status=404 if refusal.status == 404 else 400)
        return web.Response(text="ok")

    async def upload(self, request: web.Request) -> web.Response:
        """Handle the second step of an upload: the bytes, raw or as a form file."""
        ident = request.match_info["file"]
        if ident not in self._workspace.files:
            return web.Response(status=404, text="no such upload")
        if request.content_type == "multipart/form-data":
            content = b""
            for part in (await request.post()).values():
                content = part.file.read() if isinstance(part, web.FileField) else str(part).encode()
        else:
            content = await request.read()
        if len(content) != self._workspace.files[ident]["size"]:
            return web.Response(status=400, text="the length is not the one announced")
        self._workspace.contents[ident] = content
        return web.Response(text=f"OK - {len(content)}")

    async def private(self, request: web.Request) -> web.Response:
        """Return a private file for the bot's token; without it, a sign-in page as Slack does."""
        if token_of(request, {}) != self._workspace.bot_token or self._workspace.token_trouble:
            return web.Response(text="<html>Sign in to Slack</html>", content_type="text/html")
        return file_answer(self._workspace, request.match_info["file"])


def file_answer(workspace: Workspace, ident: str) -> web.Response:
    """Return a file's bytes, never with a type that a browser would run."""
    content = workspace.contents.get(ident)
    if content is None:
        return web.Response(status=404, text="no such file")
    kind = workspace.files[ident]["mimetype"]
    shown = kind if kind in ("image/png", "image/jpeg", "image/gif") else "application/octet-stream"
    headers = {"X-Content-Type-Options": "nosniff"}
    if shown == "application/octet-stream":
        headers["Content-Disposition"] = "attachment"
    return web.Response(body=content, content_type=shown, headers=headers)


def application(workspace: Workspace, caller: Caller, sockets: Sockets, page: PageApi) -> web.Application:
    """Build the whole server."""
    front = Front(workspace)
    app = web.Application(client_max_size=_MOST_BYTES)
    for verb in ("GET", "POST"):
        app.router.add_route(verb, "/api/{method}", caller.answer)
    app.router.add_post("/actions/{team}/{ticket}", front.respond)
    app.router.add_post("/upload/v1/{file}", front.upload)
    app.router.add_get("/files-pri/{file}/{tail:.*}", front.private)
    app.router.add_get("/link/", sockets.serve)
    app.router.add_get("/page-api/state", page.state)
    app.router.add_get("/page-api/stream", page.stream)
    app.router.add_get("/page-api/file/{file}", page.file)
    app.router.add_post("/page-api/do", page.do)
    app.router.add_post("/page-api/upload", page.upload)
    app.router.add_static("/page/", _PAGE)
    app.router.add_get("/", _index)
    app.router.add_get("/archives/{channel}/{message}", _index)
    return app


async def _index(request: web.Request) -> web.StreamResponse:
    return web.FileResponse(_PAGE / "index.html", headers={"Cache-Control": "no-store"})
