"""A Bolt app against the look-alike: commands, buttons, menus, events, shortcuts, home tabs."""

from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import DEFAULT_SUBSCRIPTIONS, NotPossibleError, Options, SlackLookalike
from tests.demo.lookalikes.slack.conftest import Listening

Json = dict[str, Any]


@pytest.fixture
def options() -> Options:
    return Options(
        strict_rates=False,
        subscriptions=DEFAULT_SUBSCRIPTIONS | {"message.channels", "reaction_added"},
        message_shortcuts=(("explain", "Explain this"),),
    )


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


CARD: list[Json] = [
    {"type": "section", "text": {"type": "mrkdwn", "text": "gpu-a03 is hot"}},
    {
        "type": "actions",
        "block_id": "offers",
        "elements": [
            {
                "type": "button",
                "text": plain("Cordon"),
                "action_id": "cordon",
                "value": "gpu-a03",
                "confirm": {
                    "title": plain("Sure?"),
                    "text": plain("?"),
                    "confirm": plain("Yes"),
                    "deny": plain("No"),
                },
            },
            {
                "type": "static_select",
                "action_id": "silence",
                "placeholder": plain("Silence for…"),
                "options": [
                    {"text": plain("1 hour"), "value": "1h"},
                    {"text": plain("1 day"), "value": "1d"},
                ],
            },
            {
                "type": "overflow",
                "action_id": "more",
                "options": [{"text": plain("Evidence"), "value": "ev"}],
            },
        ],
    },
]


async def test_a_command_can_be_answered_with_its_acknowledgement(
    slack: SlackLookalike, app: AsyncApp, listening: Listening
) -> None:
    @app.command("/yard")
    async def answer(ack: AsyncAck, command: Json) -> None:
        await ack(f"you asked for {command['text']}")

    await listening(app)
    await slack.types("ana", "#gpu-alerts", "/yard node list")
    assert [message.said for message in slack.ephemerals("ana")] == ["you asked for node list"]


async def test_commands_are_not_supported_in_threads(slack: SlackLookalike) -> None:
    with pytest.raises(NotPossibleError, match="not supported in threads"):
        await slack.types("ana", "#gpu-alerts", "/yard help", thread_ts="1.000001")


async def test_a_button_is_pressed_only_after_its_confirmation(
    slack: SlackLookalike, app: AsyncApp, client: AsyncWebClient, listening: Listening
) -> None:
    pressed: list[Json] = []

    @app.action("cordon")
    async def cordon(ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
        await ack()
        pressed.append(body)
        await respond(
            f"cordoned {body['actions'][0]['value']}", replace_original=False, response_type="ephemeral"
        )

    await listening(app)
    await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="hot", blocks=CARD)
    card = slack.messages("#gpu-alerts")[0]
    await slack.presses("ana", card, "Cordon", confirm=False)
    assert pressed == []
    await slack.presses("ana", card, "Cordon")
    await slack.until(lambda: slack.ephemerals("ana"))
    assert slack.ephemerals("ana")[0].said == "cordoned gpu-a03"
    assert pressed[0]["message"]["ts"] == card.ts
    assert pressed[0]["channel"]["id"] == slack.id("#gpu-alerts")


async def test_menus_report_the_chosen_option(
    slack: SlackLookalike, app: AsyncApp, client: AsyncWebClient, listening: Listening
) -> None:
    chosen: list[str] = []

    @app.action({"block_id": "offers"})
    async def act(ack: AsyncAck, action: Json) -> None:
        await ack()
        chosen.append(action["selected_option"]["value"])

    await listening(app)
    await client.chat_postMessage(channel=slack.id("#gpu-alerts"), text="hot", blocks=CARD)
    card = slack.messages("#gpu-alerts")[0]
    await slack.chooses("ana", card, "Silence for…", "1 day")
    await slack.chooses("ana", card, "…", "Evidence")
    assert chosen == ["1d", "ev"]
    with pytest.raises(NotPossibleError, match="there are"):
        await slack.chooses("ana", card, "silence", "1 week")


async def test_an_app_receives_the_events_it_subscribed_to(
    slack: SlackLookalike, app: AsyncApp, listening: Listening
) -> None:
    received: list[tuple[str, str]] = []

    @app.event("app_mention")
    async def mention(event: Json, say: AsyncSay) -> None:
        received.append(("mention", event["text"]))
        await say("yes?", thread_ts=event["ts"])

    @app.event("message")
    async def message(event: Json) -> None:
        received.append((event["channel_type"], event["text"]))

    await listening(app)
    typed = await slack.types("ana", "#gpu-alerts", "@yardmaster help & <now>")
    await slack.types("ana", "@ana", "psst")
    await slack.types("ana", "#quiet", "not for the bot")
    await slack.until(lambda: typed.message and slack.thread(typed.message))
    await slack.until(lambda: all(envelope.acked for envelope in slack.envelopes))
    text = f"<@{slack.bot}> help &amp; &lt;now&gt;"
    assert sorted(received) == [("channel", text), ("im", "psst"), ("mention", text)]


async def test_the_home_tab_is_published_when_it_is_opened(
    slack: SlackLookalike, app: AsyncApp, listening: Listening
) -> None:
    @app.event("app_home_opened")
    async def home(event: Json, client: AsyncWebClient) -> None:
        await client.views_publish(user_id=event["user"], view={"type": "home", "blocks": CARD})

    await listening(app)
    await slack.opens_home("ana")
    shown = await slack.until(lambda: slack.home("ana"))
    assert shown["blocks"][0]["text"]["text"] == "gpu-a03 is hot"
    assert slack.home("bo") is None


async def test_a_message_shortcut_carries_the_message(
    slack: SlackLookalike, app: AsyncApp, listening: Listening
) -> None:
    @app.shortcut("explain")
    async def explain(ack: AsyncAck, shortcut: Json, respond: AsyncRespond) -> None:
        await ack()
        await respond(f"it says {shortcut['message']['text']}")

    await listening(app)
    typed = await slack.types("bo", "#gpu-alerts", "XID 79")
    await slack.uses_shortcut("ana", "explain", typed.message)
    await slack.until(lambda: slack.ephemerals("ana"))
    assert slack.ephemerals("ana")[0].said == "it says XID 79"
