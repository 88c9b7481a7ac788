"""Whatever is sent, signed or not, is answered, and never with a server's error: nothing in it breaks what reads it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given

from alerts.store import table_of
from bot.channels.interaction import Interaction
from bot.channels.slack.integration import open_slack
from bot.http.connections import Connections
from bot.http.senders import Sender
from bot.http.server import Endpoints, Server, application
from bot.metrics import Metrics
from bot.settings.channels import SlackSettings
from bot.settings.secrets import Secret
from bot.store.documents import decode, encode
from collectors.facts.clock import SystemClock
from collectors.internal_errors import InternalErrors
from commands.core.command import Answer
from commands.core.request import Actor, ActorKind, Request
from tests.bot.http.odd_requests import (
    SECRET,
    SIGNED,
    TOKEN,
    UNSIGNED,
    Sent,
    as_event,
    as_interaction,
    as_slash,
    from_slack,
    strangers,
)
from tests.bot.http.slack_payloads import EVENTS, INTERACTIVE, SLASH
from tests.support.examples import share
from tests.support.memory_store import MemoryStore


@dataclass(frozen=True, slots=True)
class Seen:
    status: int
    errors: list[str]
    interactions: list[Interaction]


@asynccontextmanager
async def served(errors: list[str], store: MemoryStore) -> AsyncIterator[Server]:
    """Run the server with a real Slack integration, whose Slack cannot be reached, and one token."""

    async def takes(_request: Request) -> Answer | None:
        return None

    metrics, contained = Metrics(), InternalErrors(errors.append)
    async with AsyncExitStack() as stack:
        settings = SlackSettings.model_validate(
            {
                "bot_token": "xoxb-1",
                "signing_secret": SECRET,
                "channel": "C1",
                "api_url": "http://127.0.0.1:1/",
            }
        )
        slack = await open_slack(settings, store, clock=SystemClock(), stack=stack, errors=contained)
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        intake = tasks.create_task(slack.intake.run())
        stack.callback(intake.cancel)
        actor = Actor(id="ci", name="ci", kind=ActorKind.TOKEN, teams=frozenset())
        endpoints = Endpoints(
            take=takes,
            clock=SystemClock(),
            metrics=metrics,
            not_ready=lambda: "",
            senders=(Sender(actor=actor, secret=Secret(value=TOKEN.decode())),),
            slack=slack.receive,
        )
        connections = Connections(metrics)
        server = Server(application(endpoints), "127.0.0.1:0", connections, contained)
        await server.start()
        stack.push_async_callback(server.stop)
        yield server


async def answered(sent: Sent) -> Seen:
    """Send it, and return how it was answered, which parts had an internal error, and what was stored."""
    errors: list[str] = []
    store = MemoryStore()
    async with served(errors, store) as server, asyncio.timeout(30):
        host, _, port = server.address.removeprefix("http://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        lines = [b"POST " + sent.path + b" HTTP/1.1", b"Host: x", b"Connection: close"]
        lines += [name + b": " + value for name, value in sent.headers]
        lines.append(b"Content-Length: %d" % len(sent.body))
        writer.write(b"\r\n".join(lines) + b"\r\n\r\n" + sent.body)
        status = int((await reader.readline()).split()[1])
        await reader.read()
        writer.close()
    async with store.unit() as unit:
        return Seen(status, errors, list(await unit.rows(Interaction).find()))


@pytest.mark.parametrize("payload", EVENTS, ids=lambda one: str(one.get("event", one)["type"]))
async def test_what_slack_sends_as_an_event_is_accepted(payload: dict[str, Any]) -> None:
    assert (await answered(as_event(payload))).status == 200


@pytest.mark.parametrize("payload", INTERACTIVE, ids=lambda one: str(one["type"]))
async def test_what_slack_sends_of_a_click_is_accepted(payload: dict[str, Any]) -> None:
    seen = await answered(as_interaction(payload))
    assert (seen.status, seen.errors) == (200, [])


async def test_a_slash_command_is_accepted() -> None:
    seen = await answered(as_slash(SLASH))
    assert (seen.status, [one.text for one in seen.interactions]) == (200, ["node list"])


@share(1)
@given(sent=strangers)
async def test_a_stranger_s_request_is_answered_and_breaks_nothing(sent: Sent) -> None:
    seen = await answered(sent)
    assert seen.status < 500
    assert (seen.errors, seen.interactions) == ([], [])


@share(1)
@given(sent=from_slack)
async def test_a_signed_request_is_answered_and_what_is_stored_can_be_read(sent: Sent) -> None:
    seen = await answered(sent)
    assert seen.status < 500
    table = table_of(Interaction)
    for one in seen.interactions:
        assert decode(table, encode(table, one)) == one


@pytest.mark.parametrize("sent", [*UNSIGNED.values(), *SIGNED.values()], ids=[*UNSIGNED, *SIGNED])
async def test_an_odd_request_is_the_sender_s_mistake_and_is_not_stored(sent: Callable[[], Sent]) -> None:
    is_signed = sent in SIGNED.values()
    seen = await answered(sent())
    assert 400 <= seen.status < 500
    assert seen.status != 401 or not is_signed
    assert seen.interactions == []
