"""Whatever is sent, signed or not, is answered, and never with a server's error: nothing in it breaks what reads it."""

import asyncio
import copy
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
from tests.support.examples import share
from tests.support.memory_store import MemoryStore

SECRET = "signing-secret"
TOKEN = b"t0ken"


def now() -> int:
    """Return the Unix time: a signature is not accepted after five minutes, and the tests may take longer."""
    return round(SystemClock().now().timestamp())


WHO = {"id": "U1", "team_id": "T1"}
VALUES = {"node": {"value": {"type": "external_select", "selected_option": {"value": "gpu-a01"}}}}
FORM_VIEW = {
    "id": "V1",
    "hash": "h",
    "type": "modal",
    "callback_id": "form",
    "private_metadata": json.dumps(
        {"command": "node show", "cluster": "", "channel": "slack/C1", "thread": "1.2"}
    ),
    "state": {"values": VALUES},
}
CLICK = {
    "type": "block_actions",
    "user": WHO,
    "team": {"id": "T1"},
    "channel": {"id": "C1"},
    "container": {"type": "message", "message_ts": "1.2", "channel_id": "C1", "is_ephemeral": False},
    "trigger_id": "1.2.3",
    "response_url": "https://hooks.test/1",
}
EVENT = {"type": "event_callback", "team_id": "T1", "event_id": "Ev1", "authorizations": [{"team_id": "T1"}]}

# What Slack sends, each in its shape, as JSON in the body or in the field `payload`; a slash command is a form.
EVENTS: list[dict[str, Any]] = [
    {
        **EVENT,
        "event": {"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.2", "text": "<@U0> help"},
    },
    {
        **EVENT,
        "is_ext_shared_channel": True,
        "event": {
            "type": "message",
            "channel_type": "im",
            "user": "U1",
            "channel": "D1",
            "ts": "1.2",
            "text": "node list",
            "subtype": "file_share",
            "files": [{"name": "a", "url_private": "https://files.test/a", "size": 3}],
        },
    },
    {**EVENT, "event": {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home"}},
    {"type": "url_verification", "challenge": "abc"},
]
INTERACTIVE: list[dict[str, Any]] = [
    {
        **CLICK,
        "actions": [{"type": "button", "action_id": "line/0", "value": "node list", "action_ts": "1.3"}],
    },
    {
        **CLICK,
        "actions": [
            {"type": "users_select", "action_id": "people/0/incident ack 1 --for", "selected_user": "U2"}
        ],
    },
    {"type": "view_submission", "user": WHO, "team": {"id": "T1"}, "view": FORM_VIEW},
    {
        "type": "view_submission",
        "user": WHO,
        "team": {"id": "T1"},
        "view": {**FORM_VIEW, "callback_id": "choose_command"},
    },
    {
        "type": "block_suggestion",
        "user": WHO,
        "view": FORM_VIEW,
        "action_id": "form/node",
        "value": "gp",
        "block_id": "n",
    },
    {"type": "shortcut", "user": WHO, "callback_id": "run_command", "trigger_id": "1.2.3"},
    {
        "type": "message_action",
        "user": WHO,
        "callback_id": "what_is_this",
        "channel": {"id": "C1"},
        "message": {"ts": "1.2", "text": "x"},
        "message_ts": "1.2",
        "action_ts": "1.3",
        "response_url": "https://hooks.test/1",
    },
]
SLASH = {
    "command": "/yard",
    "text": "node list",
    "user_id": "U1",
    "team_id": "T1",
    "channel_id": "C1",
    "trigger_id": "1.2.3",
    "response_url": "https://hooks.test/1",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A request: its target, headers and body, all in bytes as they go over the wire."""

    path: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


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


def signed(body: bytes, *, form: bool) -> Sent:
    """Return what Slack would send."""
    at = str(now())
    signature = hmac.new(SECRET.encode(), b"v0:" + at.encode() + b":" + body, hashlib.sha256).hexdigest()
    kind = b"application/x-www-form-urlencoded" if form else b"application/json"
    headers = (
        (b"Content-Type", kind),
        (b"X-Slack-Request-Timestamp", at.encode()),
        (b"X-Slack-Signature", f"v0={signature}".encode()),
    )
    return Sent(b"/slack/events", headers, body)


def as_event(payload: Any) -> Sent:
    return signed(json.dumps(payload).encode(), form=False)


def as_interaction(payload: Any) -> Sent:
    return signed(urlencode({"payload": json.dumps(payload)}).encode(), form=True)


def as_slash(fields: dict[str, Any]) -> Sent:
    return signed(urlencode(fields, errors="surrogatepass").encode(), form=True)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4) | st.just("id"), inner, max_size=2)
    ),
    max_leaves=4,
)


def places(value: Any) -> list[tuple[Any, ...]]:
    """Return the path to each value within a payload."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = list(value)
    if isinstance(value, list):
        keys = list(range(len(value)))
    return [(key, *rest) for key in keys for rest in [(), *places(value[key])]]


@st.composite
def altered(draw: st.DrawFn, payloads: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a payload of Slack in which values are missing, or are something else."""
    payload: dict[str, Any] = copy.deepcopy(draw(st.sampled_from(payloads)))
    for _ in range(draw(st.integers(1, 2))):
        found = places(payload)
        if not found:
            break
        *path, last = draw(st.sampled_from(found))
        inner: Any = payload
        for key in path:
            inner = inner[key]
        if draw(st.booleans()) and isinstance(inner, dict):
            del inner[last]
        else:
            inner[last] = draw(anything)
    return payload


header_values = st.binary(max_size=20).map(
    lambda value: bytes(one for one in value if one not in b"\r\n\0").strip()
) | st.sampled_from(
    [b"nan", b"abc", b"1e9", b"-1", b"9" * 5000, b"\xc3\xbc", b"\xff", b"Bearer \xff", b"Bearer " + TOKEN]
)
header_names = st.sampled_from(
    [
        b"Authorization",
        b"Content-Type",
        b"Content-Encoding",
        b"X-Slack-Request-Timestamp",
        b"X-Slack-Signature",
        b"X-Slack-Retry-Num",
        b"X-Slack-Bolt-Lazy-Only",
        b"Cookie",
        b"Expect",
        b"Range",
    ]
)
strangers = st.builds(
    Sent,
    st.sampled_from(
        [b"/slack/events", b"/api/yard/lines", b"/healthz", b"/metrics", b"/%ff", b"/slack/events?a=%ff"]
    ),
    st.lists(st.tuples(header_names, header_values), max_size=4).map(tuple),
    st.binary(max_size=40)
    | anything.map(lambda value: json.dumps(value).encode())
    | st.fixed_dictionaries({"line": anything}, optional={"id": anything}).map(
        lambda value: json.dumps(value).encode()
    )
    | st.sampled_from(
        [b"payload=%7B", b"payload=[1]", b"payload=null", b"ssl_check=1", b"\x1f\x8b", b"[" * 10_000]
    ),
)
from_slack = (
    altered(EVENTS).map(as_event)
    | altered(INTERACTIVE).map(as_interaction)
    | altered([SLASH]).map(as_slash)
    | anything.map(as_event)
    | anything.map(as_interaction)
)


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


# Each is made when it is sent: a signature is accepted for five minutes.
UNSIGNED: dict[str, Callable[[], Sent]] = {
    "Authorization that is not UTF-8": lambda: Sent(
        b"/api/yard/lines", ((b"Authorization", b"Bearer \xff\xfe"),), b"{}"
    ),
    "a timestamp that is no number": lambda: Sent(
        b"/slack/events", ((b"X-Slack-Request-Timestamp", b"nan"),), b"{}"
    ),
    "a timestamp in words": lambda: Sent(b"/slack/events", ((b"X-Slack-Request-Timestamp", b"abc"),), b"{}"),
    "a signature that is not ASCII": lambda: Sent(
        b"/slack/events",
        (
            (b"X-Slack-Request-Timestamp", str(now()).encode()),
            (b"X-Slack-Signature", "v0=\u00fcn\u00ef".encode()),
        ),
        b"{}",
    ),
    "an unknown charset": lambda: Sent(
        b"/slack/events", ((b"Content-Type", b"text/plain; charset=odd"),), b"{}"
    ),
    "a body that is not compressed": lambda: Sent(b"/slack/events", ((b"Content-Encoding", b"gzip"),), b"{}"),
}
SIGNED: dict[str, Callable[[], Sent]] = {
    "an event that is a number": partial(as_event, {"type": "event_callback", "event": 5}),
    "a slash command of nobody": partial(
        as_slash, {name: value for name, value in SLASH.items() if name != "user_id"}
    ),
    "a slash command without a trigger": partial(
        as_slash, {n: value for n, value in SLASH.items() if n != "trigger_id"}
    ),
    "a choice of a person without a line": partial(
        as_interaction,
        {**CLICK, "actions": [{"type": "users_select", "action_id": "people", "selected_user": "U2"}]},
    ),
    "a form with odd metadata": partial(
        as_interaction, {"type": "view_submission", "user": WHO, "view": {**FORM_VIEW, "private_metadata": 5}}
    ),
    "a form without its values": partial(
        as_interaction,
        {"type": "view_submission", "user": WHO, "view": {**FORM_VIEW, "state": {"values": 5}}},
    ),
    "a person who is a number": partial(as_event, {**EVENTS[0], "event": {**EVENTS[0]["event"], "user": 5}}),
    "half a character": partial(as_event, {**EVENTS[0], "event": {**EVENTS[0]["event"], "text": "\ud800"}}),
}


@pytest.mark.parametrize("sent", [*UNSIGNED.values(), *SIGNED.values()], ids=[*UNSIGNED, *SIGNED])
async def test_an_odd_request_is_the_sender_s_mistake_and_is_not_stored(sent: Callable[[], Sent]) -> None:
    is_signed = sent in SIGNED.values()
    seen = await answered(sent())
    assert 400 <= seen.status < 500
    assert seen.status != 401 or not is_signed
    assert seen.interactions == []
