"""The Kubernetes source: objects, pages, watches, logs, and errors that say what to do."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from collectors.facts.results import SourceError
from collectors.sources.kubernetes.api_status import KubernetesError
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from demo.lookalikes.kubernetes import KubernetesLookalike

Connect = Callable[..., Awaitable[KubernetesSource]]
Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
EMPTY_LIST = {"kind": "List", "metadata": {"resourceVersion": "7"}, "items": []}


def node(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


async def collected(pages: AsyncIterator[bytes]) -> list[bytes]:
    return [page async for page in pages]


async def test_pages_contain_every_object_once(kube: KubernetesLookalike, connect: Connect) -> None:
    for number in range(7):
        kube.create(node(f"n{number}"))
    pages = await collected((await connect(kube.url)).pages("/api/v1/nodes", limit=3))
    names = [item["metadata"]["name"] for page in pages for item in json.loads(page)["items"]]
    assert names == [f"n{number}" for number in range(7)]
    assert len(pages) == 3


async def test_a_continue_token_that_is_too_old_raises_410(
    kube: KubernetesLookalike, connect: Connect
) -> None:
    for number in range(4):
        kube.create(node(f"n{number}"))
    pages = (await connect(kube.url)).pages("/api/v1/nodes", limit=2)
    await anext(pages)
    kube.compact()
    kube.create(node("later"))
    kube.compact()
    with pytest.raises(KubernetesError) as refused:
        await anext(pages)
    assert refused.value.status == 410


async def test_a_watch_opens_sends_events_and_ends(kube: KubernetesLookalike, connect: Connect) -> None:
    source = await connect(kube.url)
    version = json.loads(await source.get("/api/v1/nodes"))["metadata"]["resourceVersion"]
    lines = source.watch("/api/v1/nodes", version, seconds=1)
    assert await anext(lines) == b""
    kube.create(node("n1"))
    line = json.loads(await anext(lines))
    assert (line["type"], line["object"]["metadata"]["name"]) == ("ADDED", "n1")
    async with asyncio.timeout(10):
        rest = [json.loads(line)["type"] async for line in lines]
    assert set(rest) <= {"BOOKMARK"}


async def test_a_silent_watch_is_aborted(serve: Serve, connect: Connect) -> None:
    async def silent(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"type":"BOOKMARK"}\n')
        await asyncio.sleep(60)
        return response

    source = await connect(await serve(silent))
    async with asyncio.timeout(10), aclosing(source.watch("/x", "1", seconds=1, grace=0.5)) as lines:
        assert [await anext(lines), await anext(lines)] == [b"", b'{"type":"BOOKMARK"}']
        with pytest.raises(SourceError, match=r"within 1\.5 s"):
            await anext(lines)


async def test_a_watch_event_may_be_large_and_arrive_in_chunks(serve: Serve, connect: Connect) -> None:
    large = json.dumps({"type": "ADDED", "text": "x" * (5 << 20)}).encode()

    async def chunks(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"type":')
        await response.write(b'"ADDED"}\n{"a":1}\n')
        await response.write(large + b"\n")
        return response

    source = await connect(await serve(chunks))
    assert await collected(source.watch("/x", "1", seconds=5)) == [
        b"",
        b'{"type":"ADDED"}',
        b'{"a":1}',
        large,
    ]


async def test_a_watch_that_breaks_inside_an_event_never_yields_half_of_it(
    serve: Serve, connect: Connect
) -> None:
    async def broken(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"whole":1}\n{"half":')
        return response

    lines = (await connect(await serve(broken))).watch("/x", "1", seconds=5)
    assert [await anext(lines), await anext(lines)] == [b"", b'{"whole":1}']
    with pytest.raises(SourceError, match="the watch ended in the middle of an event"):
        await anext(lines)


REFUSALS = [
    (401, "credentials are invalid or expired"),
    (403, "grant this permission"),
    (404, "does not serve this kind"),
    (409, "it was changed in the meantime"),
    (410, "list again"),
    (429, "limits the rate of requests"),
    (500, "check the API server"),
]


@pytest.mark.parametrize(("status", "advice"), REFUSALS)
async def test_an_error_has_the_servers_message_and_advice(
    serve: Serve, connect: Connect, status: int, advice: str
) -> None:
    async def refuse(_: web.Request) -> web.StreamResponse:
        body = {
            "kind": "Status",
            "code": status,
            "reason": "Because",
            "message": "no, not you",
            "details": {
                "causes": [{"field": "spec.replicas", "message": "too many"}],
                "retryAfterSeconds": 3,
            },
        }
        return web.json_response(body, status=status)

    source = await connect(await serve(refuse))
    with pytest.raises(KubernetesError, match="no, not you") as refused:
        await source.get("/api/v1/nodes/n1")
    error = refused.value
    assert advice in str(error)
    assert "GET /api/v1/nodes/n1" in str(error)
    assert (error.status, error.reason, error.message) == (status, "Because", "no, not you")
    assert error.causes == (("spec.replicas", "too many"),)
    assert error.retry_after == timedelta(seconds=3)
    assert error.temporary is (status in (429, 500))


async def test_a_missing_permission_is_named(kube: KubernetesLookalike, connect: Connect) -> None:
    source = await connect(kube.url, token="bot")
    with pytest.raises(KubernetesError, match='cannot list resource "nodes"') as refused:
        await source.get("/api/v1/nodes")
    assert refused.value.status == 403


async def test_a_rotated_token_is_read_again_after_a_401(
    kube: KubernetesLookalike, connect: Connect, tmp_path: Path
) -> None:
    source = await connect(kube.url, token="expired")
    kube.kubeconfig(tmp_path / "kubeconfig")
    assert json.loads(await source.get("/api/v1/nodes"))["items"] == []


async def test_an_invalid_token_is_tried_twice(serve: Serve, connect: Connect) -> None:
    tokens = []

    async def refuse(request: web.Request) -> web.StreamResponse:
        tokens.append(request.headers.get("Authorization"))
        return web.json_response({}, status=401)

    source = await connect(await serve(refuse), token="wrong")
    with pytest.raises(KubernetesError, match="credentials"):
        await source.get("/api/v1/nodes")
    assert tokens == ["Bearer wrong", "Bearer wrong"]


async def test_timeout_refusal_and_a_large_response_are_different_errors(
    serve: Serve, connect: Connect, unused_tcp_port_factory: Callable[[], int]
) -> None:
    async def silent(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    async def huge(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b" " * 3000)

    slow = await connect(await serve(silent), timeout=timedelta(seconds=0.2))
    with pytest.raises(SourceError, match=r"within 0\.2 s"):
        await slow.get("/x")
    with pytest.raises(SourceError, match="cannot be reached"):
        await (await connect(f"http://127.0.0.1:{unused_tcp_port_factory()}")).get("/x")
    with pytest.raises(SourceError, match="more than 0 MiB"):
        await (await connect(await serve(huge), byte_cap=2000)).get("/x")


async def test_logs_with_invalid_bytes_are_text(kube: KubernetesLookalike, connect: Connect) -> None:
    kube.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "default"},
            "spec": {"nodeName": "n", "containers": [{"name": "main", "image": "i"}]},
            "status": {
                "phase": "Running",
                "containerStatuses": [{"name": "main", "state": {"running": {}}}],
            },
        },
        keep_status=True,
    )
    source = await connect(kube.url)
    assert await source.logs("default", "p", tail=2) == "one\ntwo \ufffd\n"
    (sent,) = [seen for seen in kube.requests if seen.path.endswith("/log")]
    assert "tailLines=2" in str(sent.query) or dict(sent.query).get("tailLines") == "2"


async def test_headers_body_and_content_type_are_sent_as_given(serve: Serve, connect: Connect) -> None:
    seen: list[tuple[str, list[str], str, object]] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        groups = request.headers.getall("Impersonate-Group")
        seen.append((request.headers["User-Agent"], groups, request.content_type, await request.json()))
        return web.json_response({})

    source = await connect(await serve(answer))
    await source.client.call(
        "PATCH",
        "/api/v1/nodes/n",
        params={"dryRun": "All"},
        body=[{"op": "test", "path": "/a", "value": 1}],
        content_type="application/json-patch+json",
        headers=(("Impersonate-User", "ana"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b")),
    )
    body = [{"op": "test", "path": "/a", "value": 1}]
    assert seen == [("yardmaster", ["a", "b"], "application/json-patch+json", body)]
    with pytest.raises(ValueError, match="line break"):
        await source.client.call("GET", "/x", headers=(("Impersonate-User", "ana\r\nX: y"),))


@pytest.mark.parametrize(
    ("content", "text"),
    [(None, "kubeconfig"), ("{", "kubeconfig"), ("{}", "kubeconfig"), ("[]", "kubeconfig")],
    ids=["no file", "not YAML", "an empty mapping", "a list"],
)
async def test_an_invalid_kubeconfig_is_named(tmp_path: Path, content: str | None, text: str) -> None:
    path = tmp_path / "kubeconfig"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SourceError, match=text) as refused:
        await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(path)))
    assert not refused.value.temporary
    assert str(path) in str(refused.value)


async def test_an_unknown_context_is_named(kube: KubernetesLookalike, tmp_path: Path) -> None:
    path = kube.kubeconfig(tmp_path / "kubeconfig")
    with pytest.raises(SourceError, match="other"):
        await KubernetesClient.connect(KubernetesOptions(kubeconfig=str(path), context="other"))


async def test_outside_a_pod_the_missing_service_account_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(SourceError, match="service account"):
        await KubernetesClient.connect(KubernetesOptions())
