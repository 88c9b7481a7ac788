"""The next page is found wherever the server puts the list's metadata, and whatever is written in it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.source import KubernetesSource

Connect = Callable[..., Awaitable[KubernetesSource]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]

# An object's own metadata, which comes before the list's in some of these, has no such token.
DECOY = '"metadata":{"continue":"nor this"}'
ITEMS = [{"metadata": {"name": "n1", "annotations": {"continue": "not this", "a": DECOY}}}]


def body(order: str, token: str, **how: Any) -> bytes:
    parts: dict[str, Any] = {
        "kind": "NodeList",
        "apiVersion": "v1",
        "metadata": {"resourceVersion": "7", **({"continue": token} if token else {})},
        "items": ITEMS,
    }
    return json.dumps({name: parts[name] for name in order.split()}, **how).encode()


TIGHT = {"separators": (",", ":")}


@pytest.mark.parametrize(
    ("order", "token", "how"),
    [
        pytest.param("kind apiVersion metadata items", "plain", TIGHT, id="as for built-in kinds"),
        pytest.param("apiVersion items kind metadata", "plain", TIGHT, id="as for custom kinds"),
        pytest.param("metadata items", "plain", TIGHT, id="without a kind"),
        pytest.param("kind apiVersion metadata items", "a}b{c", TIGHT, id="with braces in the token"),
        pytest.param(
            "kind apiVersion metadata items", 'a"}b\\', TIGHT, id="with a quote and a brace in the token"
        ),
        pytest.param("kind apiVersion metadata items", "plain", {"indent": 1}, id="written with spaces"),
    ],
)
async def test_the_next_page_is_asked_for_by_its_token(
    order: str, token: str, how: dict[str, Any], serve: Serve, connect: Connect
) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.query.get("continue", ""))
        said = body(order, "" if asked[-1] else token, **how)
        return web.Response(body=said, content_type="application/json")

    source = await connect(await serve(answer))
    assert len([page async for page in source.pages("/api/v1/nodes")]) == 2
    assert asked == ["", token]


@pytest.mark.parametrize("said", [b"[]", b"<html>", b'{"metadata":3}', b""])
async def test_what_is_no_list_is_said(said: bytes, serve: Serve, connect: Connect) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(body=said, content_type="application/json")

    source = await connect(await serve(answer))
    with pytest.raises(SourceError, match="with no list"):
        await anext(source.pages("/api/v1/nodes"))
