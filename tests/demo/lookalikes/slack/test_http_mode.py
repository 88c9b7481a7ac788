"""HTTP mode: signed requests to the app's request URL, and redelivery of failed events."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.signature import SignatureVerifier

from demo.lookalikes.slack import Options, SlackLookalike


class Endpoint:
    """The request URL of a Bolt app, which records the requests."""

    def __init__(self, app: AsyncApp) -> None:
        self.app = app
        self.arrived: list[tuple[dict[str, str], str]] = []
        #: Statuses to respond with before Bolt gets requests.
        self.answers: list[int] = []

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.text()
        if "url_verification" not in body:
            self.arrived.append((dict(request.headers), body))
            if self.answers:
                return web.Response(status=self.answers.pop(0))
        return await to_aiohttp_response(await self.app.async_dispatch(await to_bolt_request(request)))


@pytest.fixture
async def endpoint(slack: SlackLookalike, app: AsyncApp) -> AsyncIterator[Endpoint]:
    made = Endpoint(app)
    server = web.Application()
    server.router.add_post("/slack/events", made.serve)
    runner = web.AppRunner(server, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await slack.deliver_to(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events")
    yield made
    await runner.cleanup()


@pytest.fixture
def options() -> Options:
    return Options(strict_rates=False, redelivery=(timedelta(0), timedelta(0)))


async def test_a_command_is_signed_and_answered(
    slack: SlackLookalike, app: AsyncApp, endpoint: Endpoint
) -> None:
    @app.command("/yard")
    async def answer(ack: AsyncAck, command: dict[str, Any]) -> None:
        await ack(f"you asked for {command['text']}")

    await slack.types("ana", "#gpu-alerts", "/yard node list")
    assert slack.ephemerals("ana")[0].said == "you asked for node list"
    headers, body = endpoint.arrived[0]
    assert SignatureVerifier(slack.signing_secret).is_valid_request(body, headers)
    assert not SignatureVerifier("other").is_valid_request(body, headers)


async def test_a_failed_event_is_redelivered_with_its_retry_number(
    slack: SlackLookalike, app: AsyncApp, endpoint: Endpoint
) -> None:
    @app.event("app_mention")
    async def mention() -> None:
        pass

    endpoint.answers = [500]
    await slack.types("ana", "#gpu-alerts", "@yardmaster help")
    await slack.until(lambda: slack.envelopes and slack.envelopes[0].acked)
    retries = [headers.get("X-Slack-Retry-Num") for headers, _ in endpoint.arrived]
    assert retries == [None, "1"]
    assert endpoint.arrived[1][0]["X-Slack-Retry-Reason"] == "http_error"


async def test_a_button_works_over_http(slack: SlackLookalike, app: AsyncApp, endpoint: Endpoint) -> None:
    pressed: list[str] = []

    @app.action("go")
    async def go(ack: AsyncAck, action: dict[str, Any]) -> None:
        await ack()
        pressed.append(action["value"])

    button = {"type": "button", "text": {"type": "plain_text", "text": "Go"}, "action_id": "go", "value": "7"}
    await app.client.chat_postMessage(
        channel="#gpu-alerts", text="x", blocks=[{"type": "actions", "elements": [button]}]
    )
    await slack.presses("ana", slack.messages("#gpu-alerts")[0], "Go")
    assert pressed == ["7"]


async def test_a_url_that_fails_the_challenge_is_refused(slack: SlackLookalike) -> None:
    with pytest.raises(ValueError, match="challenge"):
        await slack.deliver_to(f"{slack.page}page/style.css")
