"""Socket Mode: delivery, acknowledgement in time, and redelivery of events."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import Options, SlackLookalike
from demo.lookalikes.slack.limits import documented

SHORT = timedelta(milliseconds=50)


class Listener:
    """A Socket Mode client that records requests and, if `acks`, acknowledges them."""

    def __init__(self, client: SocketModeClient, *, acks: bool) -> None:
        self.client = client
        self.acks = acks
        self.received: list[SocketModeRequest] = []
        client.socket_mode_request_listeners.append(self.receive)

    async def receive(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        self.received.append(request)
        if self.acks:
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=request.envelope_id))


Listening = Callable[..., Awaitable[Listener]]


@pytest.fixture
async def listener(slack: SlackLookalike, client: AsyncWebClient) -> AsyncIterator[Listening]:
    made: list[SocketModeClient] = []

    async def connect(*, acks: bool = True) -> Listener:
        socket = SocketModeClient(app_token=slack.app_token, web_client=client)
        made.append(socket)
        before = len(slack.sockets.connections)
        await socket.connect_to_new_endpoint()
        await slack.until(lambda: len(slack.sockets.connections) > before)
        return Listener(socket, acks=acks)

    yield connect
    for socket in made:
        await socket.close()  # type: ignore[no-untyped-call]


async def test_a_command_arrives_and_is_acknowledged(slack: SlackLookalike, listener: Listening) -> None:
    listening = await listener()
    done = await slack.types("ana", "#gpu-alerts", "/yard node list @bo <b> #random")
    (request,) = listening.received
    assert request.type == "slash_commands"
    assert request.accepts_response_payload
    assert request.payload["command"] == "/yard"
    assert request.payload["text"] == "node list <@U0BO000000|bo> &lt;b&gt; <#C0RANDOM00|random>"
    assert request.payload["user_id"] == slack.id("ana")
    assert done.error == ""


@pytest.mark.parametrize("options", [Options(strict_rates=False, ack_within=timedelta(seconds=1))])
async def test_an_unacknowledged_command_times_out_for_the_person(
    listener: Listening, slack: SlackLookalike
) -> None:
    listening = await listener(acks=False)
    done = await slack.types("ana", "#gpu-alerts", "/yard help")
    assert done.error == "operation_timeout"
    assert slack.notices("ana") == ["/yard failed with the error “operation_timeout”"]
    await slack.until(lambda: len(listening.received) == 1)


@pytest.fixture
def options() -> Options:
    return Options(strict_rates=False, ack_within=timedelta(seconds=30))


async def test_without_a_connection_a_command_fails_at_once(slack: SlackLookalike) -> None:
    assert (await slack.types("ana", "#gpu-alerts", "/yard help")).error == "dispatch_failed"


def test_the_app_has_three_seconds_and_four_attempts() -> None:
    assert Options().ack_within == timedelta(seconds=documented()["ack_seconds"])
    assert 1 + len(Options().redelivery) == documented()["event_attempts"]


@pytest.mark.parametrize(
    "options",
    [Options(strict_rates=False, ack_within=SHORT, redelivery=(timedelta(0), timedelta(hours=1)))],
)
async def test_an_unacknowledged_event_is_redelivered(slack: SlackLookalike, listener: Listening) -> None:
    listening = await listener(acks=False)
    await slack.types("ana", "#gpu-alerts", "@yardmaster help")
    await slack.until(lambda: len(listening.received) == 2 and len(slack.envelopes[0].deliveries) == 2)
    listening.acks = True
    await slack.until(lambda: slack.envelopes[0].deliveries[1].reason)
    slack.forward(timedelta(hours=1))
    await slack.until(lambda: slack.envelopes[0].acked)
    assert [request.retry_attempt for request in listening.received] == [0, 1, 2]
    assert [request.retry_reason for request in listening.received] == ["", "timeout", "timeout"]
    assert len({request.envelope_id for request in listening.received}) == 1


async def test_a_test_can_redeliver_an_acknowledged_envelope(
    slack: SlackLookalike, listener: Listening
) -> None:
    listening = await listener()
    await slack.types("ana", "#gpu-alerts", "/yard node list")
    slack.redeliver(slack.envelopes[0])
    await slack.until(
        lambda: len(slack.envelopes[0].deliveries) == 2 and slack.envelopes[0].deliveries[1].acked
    )
    assert [request.retry_attempt for request in listening.received] == [None, 1]


async def test_envelopes_alternate_between_connections(slack: SlackLookalike, listener: Listening) -> None:
    one, other = await listener(), await listener()
    for _ in range(4):
        await slack.types("ana", "#gpu-alerts", "/yard help")
    assert (len(one.received), len(other.received)) == (2, 2)


async def test_a_client_reconnects_after_a_dropped_socket(slack: SlackLookalike, listener: Listening) -> None:
    listening = await listener()
    assert slack.drop_socket() == 1
    await slack.until(lambda: slack.sockets.connections)
    await slack.types("ana", "#gpu-alerts", "/yard help")
    assert len(listening.received) == 1


async def test_a_refresh_causes_a_new_connection(slack: SlackLookalike, listener: Listening) -> None:
    await listener()
    old = slack.sockets.connections[0].id
    await slack.refresh_socket()
    await slack.until(lambda: [connection.id for connection in slack.sockets.connections] not in ([], [old]))


async def test_a_url_is_valid_for_one_connection(slack: SlackLookalike, client: AsyncWebClient) -> None:
    url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url) as socket:
            assert (await asyncio.wait_for(socket.receive_json(), 5))["type"] == "hello"
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_the_eleventh_connection_is_refused(slack: SlackLookalike, client: AsyncWebClient) -> None:
    async with aiohttp.ClientSession() as session:
        sockets = []
        for _ in range(documented()["sockets_per_app"] + 1):
            url = (await client.apps_connections_open(app_token=slack.app_token))["url"]
            sockets.append(await session.ws_connect(url))
        first = [(await asyncio.wait_for(socket.receive_json(), 5)) for socket in sockets]
        assert [frame["type"] for frame in first] == ["hello"] * 10 + ["disconnect"]
        assert first[-1]["reason"] == "too_many_websockets"
        for socket in sockets:
            await socket.close()


async def test_a_socket_requires_the_app_token(slack: SlackLookalike, client: AsyncWebClient) -> None:
    with pytest.raises(SlackApiError, match="invalid_auth"):
        await client.apps_connections_open(app_token="xapp-other")
