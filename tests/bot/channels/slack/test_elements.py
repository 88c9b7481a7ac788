"""Buttons and menus in Slack: what each carries, and what a press or a choice runs."""

from typing import Any

from alerts.cards.message import Button, Buttons, Menu, Message
from alerts.cards.text import text
from bot.channels.slack.blocks import render
from bot.channels.slack.elements import pressed_line
from demo.lookalikes.slack.kit.blocks import mistakes_in_blocks

SILENCE = Menu(label="Silence", options=(Button(label="for 1 h", line="silence incident i1 --for 1h"),))
MORE = Menu(
    label="More",
    is_more=True,
    options=(Button(label="Why?", line="alert why i1"), Button(label="Grafana", address="https://g/d/1")),
)


def elements(block: Buttons) -> list[dict[str, Any]]:
    blocks = render(Message(title=text("t"), blocks=(block,))).attachments[0]["blocks"]
    assert mistakes_in_blocks(blocks) == []
    return [one for part in blocks if part["type"] == "actions" for one in part["elements"]]


def test_a_menu_comes_after_the_buttons_and_its_options_are_lines() -> None:
    button, menu = elements(Buttons(buttons=(Button(label="Ack", line="alert ack i1"),), menus=(SILENCE,)))

    assert (button["type"], menu["type"]) == ("button", "static_select")
    assert menu["placeholder"]["text"] == "Silence"
    assert pressed_line({"selected_option": menu["options"][0]}) == "silence incident i1 --for 1h"


def test_the_menu_for_the_rest_is_an_overflow_menu_with_links() -> None:
    (menu,) = elements(Buttons(menus=(MORE,)))

    assert menu["type"] == "overflow"
    assert [one.get("url") for one in menu["options"]] == [None, "https://g/d/1"]
    assert pressed_line({"selected_option": menu["options"][1]}) == ""


def test_what_is_too_much_for_an_overflow_menu_is_a_menu_and_its_links_are_buttons() -> None:
    many = tuple(Button(label=f"{number}", line=f"node show n{number}") for number in range(5))
    link, menu = elements(
        Buttons(menus=(Menu(label="More", is_more=True, options=(*many, MORE.options[1])),))
    )

    assert (link["type"], link["url"]) == ("button", "https://g/d/1")
    assert (menu["type"], len(menu["options"])) == ("static_select", 5)


def test_an_option_that_is_too_long_for_a_menu_is_a_button() -> None:
    line = "silence add " + "x" * 150
    button, menu = elements(
        Buttons(menus=(Menu(label="Silence", options=(*SILENCE.options, Button(label="long", line=line))),))
    )

    assert (button["type"], button["value"]) == ("button", line)
    assert len(menu["options"]) == 1


def test_choosing_a_person_runs_the_line_with_their_id() -> None:
    (menu,) = elements(Buttons(menus=(Menu(label="Hand over to…", people_line="alert hand-over i1"),)))

    assert menu["type"] == "users_select"
    assert (
        pressed_line({"action_id": menu["action_id"], "selected_user": "U0ELI"}) == "alert hand-over i1 U0ELI"
    )
