"""TLS to Prometheus: whom the source trusts, and as whom it connects."""

import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp import web

from collectors.facts.queries import PromQLQuery
from collectors.facts.results import Blind, QueryResult, Seen
from collectors.sources.prometheus.source import PrometheusSource
from demo.parts.processes import find_program
from tests.real.fixtures import present_or_skip

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
UP = PromQLQuery(expr="up")
EMPTY = {"status": "success", "data": {"resultType": "vector", "result": []}}
SourceAt = Callable[..., PrometheusSource]


@dataclass(frozen=True)
class Pair:
    """A self-signed certificate for 127.0.0.1, and its key."""

    cert: Path
    key: Path


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Pair]:
    """The certificates of the server, the client and a stranger."""
    openssl = present_or_skip(lambda: find_program("openssl", get_it="install the Debian package openssl"))
    folder = tmp_path_factory.mktemp("tls")
    made = {
        name: Pair(folder / f"{name}.crt", folder / f"{name}.key") for name in ("server", "client", "other")
    }
    for name, pair in made.items():
        new = (openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}")
        files = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", pair.key, "-out", pair.cert)
        subprocess.run((*new, *files), check=True, capture_output=True, timeout=60)
    return made


@pytest.fixture
async def serve_tls(pairs: Mapping[str, Pair]) -> AsyncIterator[Callable[..., Awaitable[str]]]:
    """A function that starts a server with an empty result for every query, and returns its address."""
    async with AsyncExitStack() as stack:

        async def start(*, only_for: Pair | None = None) -> str:
            async def answer(_: web.Request) -> web.StreamResponse:
                return web.json_response(EMPTY)

            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pairs["server"].cert, pairs["server"].key)
            if only_for is not None:
                context.load_verify_locations(only_for.cert)
                context.verify_mode = ssl.CERT_REQUIRED
            app = web.Application()
            app.router.add_post("/api/v1/query", answer)
            runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
            return f"https://127.0.0.1:{runner.addresses[0][1]}"

        yield start


def reason(result: QueryResult) -> str:
    assert isinstance(result, Blind), result
    return result.reason


async def test_only_a_trusted_certificate_is_accepted(
    serve_tls: Callable[..., Awaitable[str]], source_at: SourceAt, pairs: Mapping[str, Pair]
) -> None:
    url = await serve_tls()
    by_default = source_at(url)
    by_another = source_at(url, ca_file=str(pairs["other"].cert))
    by_its_own = source_at(url, ca_file=str(pairs["server"].cert))
    unverified = source_at(url, insecure=True)
    for source in (by_default, by_another):
        assert "check tls_config" in reason(await source.query(UP, at=NOW))
    for source in (by_its_own, unverified):
        assert isinstance(await source.query(UP, at=NOW), Seen)


async def test_a_certificate_for_another_host_is_refused(
    serve_tls: Callable[..., Awaitable[str]], source_at: SourceAt, pairs: Mapping[str, Pair]
) -> None:
    url = (await serve_tls()).replace("127.0.0.1", "localhost")
    assert "server name" in reason(await source_at(url, ca_file=str(pairs["server"].cert)).query(UP, at=NOW))


async def test_the_client_certificate_is_shown_and_read_again_when_it_changes(
    serve_tls: Callable[..., Awaitable[str]],
    source_at: SourceAt,
    pairs: Mapping[str, Pair],
    tmp_path: Path,
) -> None:
    url = await serve_tls(only_for=pairs["client"])
    mine = Pair(tmp_path / "tls.crt", tmp_path / "tls.key")

    def rotate(to: Pair) -> None:
        mine.cert.write_bytes(to.cert.read_bytes() + b"\n" * (to is pairs["client"]))  # another size
        mine.key.write_bytes(to.key.read_bytes())

    rotate(pairs["other"])
    ca_file = str(pairs["server"].cert)
    source = source_at(url, ca_file=ca_file, cert_file=str(mine.cert), key_file=str(mine.key))
    assert url in reason(await source.query(UP, at=NOW))
    rotate(pairs["client"])
    assert isinstance(await source.query(UP, at=NOW), Seen)


async def test_a_file_that_holds_no_certificate_is_an_error_of_tls(
    source_at: SourceAt, tmp_path: Path
) -> None:
    (tmp_path / "ca.crt").write_text("not a certificate")
    result = await source_at("https://127.0.0.1:1", ca_file=str(tmp_path / "ca.crt")).query(UP, at=NOW)
    assert "check tls_config" in reason(result)
