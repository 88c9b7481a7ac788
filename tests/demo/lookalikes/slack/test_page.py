"""The page in a real browser: it shows the workspace and lets people act."""

import re
from typing import Any

import aiohttp
import pytest
from playwright.async_api import expect
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.web.async_client import AsyncWebClient

from demo.lookalikes.slack import SlackLookalike
from tests.demo.lookalikes.slack.conftest import Listening, Open, send

pytestmark = pytest.mark.real
Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


CARD: list[Json] = [
    {"type": "header", "text": plain(":fire: GPU hot")},
    {
        "type": "section",
        "text": {"type": "mrkdwn", "text": "*gpu-a03* is at `91 °C`, see <https://x.example|runbook>"},
    },
    {
        "type": "actions",
        "elements": [
            {
                "type": "button",
                "style": "danger",
                "text": plain("Cordon"),
                "action_id": "cordon",
                "confirm": {
                    "title": plain("Cordon gpu-a03?"),
                    "text": plain("No new pods."),
                    "confirm": plain("Yes, cordon"),
                    "deny": plain("Not now"),
                },
            }
        ],
    },
]
VIEW: Json = {
    "type": "modal",
    "callback_id": "launch",
    "title": plain("Launch a training"),
    "submit": plain("Go"),
    "blocks": [
        {
            "type": "input",
            "block_id": "name",
            "label": plain("Name"),
            "element": {"type": "plain_text_input", "action_id": "v"},
        },
        {
            "type": "input",
            "block_id": "kind",
            "label": plain("Kind"),
            "element": {
                "type": "static_select",
                "action_id": "v",
                "options": [
                    {"text": plain("PyTorchJob"), "value": "p"},
                    {"text": plain("MPIJob"), "value": "m"},
                ],
            },
        },
    ],
}


async def test_a_card_is_drawn_pressed_and_redrawn(
    slack: SlackLookalike, app: AsyncApp, client: AsyncWebClient, listening: Listening, opened: Open
) -> None:
    @app.action("cordon")
    async def cordon(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        text = f"Cordoned by <@{body['user']['id']}>"
        await client.chat_update(channel=body["channel"]["id"], ts=body["message"]["ts"], text=text)

    await listening(app)
    page = await opened("ana")
    posted = await client.chat_postMessage(channel="#gpu-alerts", text="hot", blocks=CARD)
    card = page.locator(f"article[data-ts='{posted['ts']}']")
    await expect(card.get_by_role("heading", name="GPU hot")).to_be_visible()
    await expect(card.locator("strong", has_text="gpu-a03")).to_be_visible()
    await expect(card.get_by_role("link", name="runbook")).to_have_attribute("href", "https://x.example")
    await card.get_by_role("button", name="Cordon").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Not now").click()
    assert slack.envelopes == []
    await card.get_by_role("button", name="Cordon").click()
    await page.get_by_role("alertdialog").get_by_role("button", name="Yes, cordon").click()
    await expect(card.get_by_text("Cordoned by @ana")).to_be_visible()
    await expect(card.get_by_text("(edited)")).to_be_visible()


async def test_a_command_is_answered_only_for_the_person_who_typed_it(
    app: AsyncApp, listening: Listening, opened: Open
) -> None:
    @app.command("/yard")
    async def answer(ack: AsyncAck, command: Json) -> None:
        await ack(f"*{command['text']}*: 3 nodes")

    await listening(app)
    ana, bo = await opened("ana"), await opened("bo")
    box = ana.get_by_role("textbox", name="Message")
    await box.press_sequentially("/ya")
    await expect(ana.get_by_role("listbox", name="Suggestions").get_by_text("node list")).to_be_visible()
    await box.fill("/yard node list")
    await box.press("Enter")
    await expect(ana.get_by_text("Only visible to you")).to_be_visible()
    await expect(ana.locator("strong", has_text="node list")).to_be_visible()
    await expect(bo.get_by_text("Only visible to you")).to_have_count(0)


async def test_a_failed_command_shows_its_error(opened: Open) -> None:
    page = await opened("ana")
    await send(page, "/yard node list")
    await expect(page.get_by_text("/yard failed with the error “dispatch_failed”")).to_be_visible()


async def test_a_modal_is_filled_in_and_its_errors_are_shown(
    app: AsyncApp, listening: Listening, opened: Open
) -> None:
    accepted: list[str] = []

    @app.command("/yard")
    async def launch(ack: AsyncAck, command: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=command["trigger_id"], view=VIEW)

    @app.view("launch")
    async def check(ack: AsyncAck, view: Json) -> None:
        values = view["state"]["values"]
        if values["name"]["v"]["value"] == "taken":
            await ack(response_action="errors", errors={"name": "There is one already."})
        else:
            accepted.append(values["kind"]["v"]["selected_option"]["value"])
            await ack()

    await listening(app)
    page = await opened("ana")
    await page.get_by_role("textbox", name="Message").fill("/yard training launch")
    await page.get_by_role("button", name="Send message").first.click()
    dialog = page.get_by_role("dialog", name="Launch a training")
    await dialog.get_by_role("button", name="Go").click()
    await expect(dialog.get_by_text("Please complete this required field.")).to_have_count(2)
    await dialog.get_by_label("Name").fill("taken")
    await dialog.get_by_label("Kind").select_option(label="MPIJob")
    await dialog.get_by_role("button", name="Go").click()
    await expect(dialog.get_by_text("There is one already.")).to_be_visible()
    await dialog.get_by_label("Name").fill("llama")
    await dialog.get_by_role("button", name="Go").click()
    await expect(dialog).to_have_count(0)
    assert accepted == ["m"]


async def test_unread_messages_are_counted_and_a_thread_is_answered(
    slack: SlackLookalike, client: AsyncWebClient, opened: Open
) -> None:
    page = await opened("ana")
    parent = (await client.chat_postMessage(channel="#random", text=f"<@{slack.id('ana')}> look"))["ts"]
    await client.chat_postMessage(channel="#random", text="a line", thread_ts=parent)
    await page.get_by_role("button", name="random, 1 unread").click()
    await page.get_by_role("button", name="1 reply").click()
    thread = page.get_by_role("complementary", name="Thread")
    await expect(thread.get_by_text("a line")).to_be_visible()
    await thread.get_by_role("textbox", name="Message").fill("on it")
    await thread.get_by_role("textbox", name="Message").press("Enter")
    await expect(thread.get_by_text("on it")).to_be_visible()
    assert [reply.text for reply in slack.threads("#random")[parent]] == ["a line", "on it"]


async def test_texts_of_people_and_apps_never_become_markup(
    slack: SlackLookalike, client: AsyncWebClient, opened: Open
) -> None:
    page = await opened("ana")
    evil = "<img src=x onerror=alert(1)> <javascript:alert(1)|click> &lt;script&gt;"
    await client.chat_postMessage(channel="#gpu-alerts", text=evil)
    await slack.types("bo", "#gpu-alerts", "<b>bold</b> <script>alert(1)</script>")
    await expect(page.locator("article")).to_have_count(2)
    assert (
        await page.locator(
            "article .said img, article script, article b, article a[href^=javascript]"
        ).count()
        == 0
    )
    await expect(page.get_by_text("<b>bold</b> <script>alert(1)</script>")).to_be_visible()


async def test_a_file_is_uploaded_and_a_link_opens_its_message(
    slack: SlackLookalike, client: AsyncWebClient, opened: Open
) -> None:
    page = await opened("ana")
    await page.get_by_label("Files to attach").first.set_input_files(
        {"name": "run.sh", "mimeType": "text/plain", "buffer": b"#!/bin/sh"}
    )
    await page.get_by_role("textbox", name="Message").fill("@yardmaster training launch")
    await page.get_by_role("button", name="Send message").first.click()
    await expect(page.get_by_role("link", name="run.sh")).to_be_visible()
    (message,) = slack.messages("#gpu-alerts")
    assert message.text == f"<@{slack.bot}> training launch"
    link = (await client.chat_getPermalink(channel=message.channel, message_ts=message.ts))["permalink"]
    again = await opened("ana", address=link)
    await expect(again.get_by_role("link", name="run.sh")).to_be_visible()


async def test_a_page_of_another_site_cannot_act(slack: SlackLookalike) -> None:
    interaction = {"as": "ana", "do": "types", "channel": "#gpu-alerts", "text": "not me"}
    async with (
        aiohttp.ClientSession(headers={"Origin": "https://elsewhere.example"}) as session,
        session.post(f"{slack.page}page-api/do", json=interaction) as answer,
    ):
        assert answer.status == 403
    assert slack.messages("#gpu-alerts") == []


async def test_the_page_says_who_you_are_what_a_channel_is_for_and_what_to_do_first(opened: Open) -> None:
    page = await opened("bo")
    welcome = page.get_by_role("region", name="What to do first")
    await expect(welcome).to_have_text(re.compile("You are bo \\(sre, on call\\): type /yard help."))
    people = page.get_by_label("Acting as").locator("option")
    assert await people.all_text_contents() == ["ana", "bo (sre, on call)", "gus (guest)", "eve (external)"]
    await expect(page.locator("#about")).to_have_text("One card per incident · 5 members")
    await welcome.get_by_role("button", name="Close the welcome").click()
    await expect(welcome).to_be_hidden()
    await page.reload()
    await page.wait_for_selector("body[data-ready]")
    await expect(welcome).to_be_hidden()


async def test_an_edited_answer_keeps_its_marks_apart(
    app: AsyncApp, listening: Listening, opened: Open
) -> None:
    @app.command("/yard")
    async def answer(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond(text="which?", blocks=[{"type": "actions", "elements": [
            {"type": "button", "text": plain("This"), "action_id": "this"}]}])  # fmt: skip

    @app.action("this")
    async def this(ack: AsyncAck, respond: AsyncRespond) -> None:
        await ack()
        await respond(text="this one", replace_original=True)

    await listening(app)
    page = await opened("ana")
    await page.get_by_role("textbox", name="Message").fill("/yard x")
    await page.keyboard.press("Enter")
    await page.get_by_role("button", name="This").click()
    edited = page.get_by_text("(edited)")
    await expect(edited).to_be_visible()
    above, below = await edited.bounding_box(), await page.get_by_text("Dismiss message").bounding_box()
    assert above is not None
    assert below is not None
    assert below["y"] >= above["y"] + above["height"] / 2


async def test_a_home_tab_is_opened_drawn_and_pressed(
    app: AsyncApp, client: AsyncWebClient, listening: Listening, opened: Open
) -> None:
    def view(words: str) -> Json:
        button = {"type": "button", "text": plain("Acknowledge"), "action_id": "ack"}
        return {"type": "home", "blocks": [{"type": "header", "text": plain(words)}, *CARD[1:2],
                                           {"type": "actions", "elements": [button]}]}  # fmt: skip

    @app.event("app_home_opened")
    async def opens(event: Json, client: AsyncWebClient) -> None:
        await client.views_publish(user_id=event["user"], view=view("What is open"))

    @app.action("ack")
    async def acknowledged(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_publish(user_id=body["user"]["id"], view=view("Acknowledged"))

    await listening(app)
    page = await opened("ana")
    await page.get_by_role("button", name="yardmaster").click()
    await page.get_by_role("tab", name="Home").click()
    await expect(page.get_by_role("heading", name="What is open")).to_be_visible()
    await page.get_by_role("button", name="Acknowledge").click()
    await expect(page.get_by_role("heading", name="Acknowledged")).to_be_visible()
