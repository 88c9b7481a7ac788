"""Menus in messages: flattened for channels that have none, and their lines name the cluster like a button's."""

from alerts.cards.message import Button, Buttons, Menu, Message
from alerts.cards.text import text
from bot.channels.plain_text import plain_text
from commands.core.cluster_selection import with_cluster

MENUS = Buttons(
    buttons=(Button(label="Ack", line="alert ack i1"),),
    menus=(
        Menu(label="Silence", options=(Button(label="for 1 h", line="silence incident i1 --for 1h"),)),
        Menu(label="Hand over to…", people_line="alert hand-over i1"),
        Menu(label="More", is_more=True, options=(Button(label="Grafana", address="https://g/d"),)),
    ),
)
MESSAGE = Message(title=text("t"), blocks=(MENUS,))


def test_without_menus_their_options_are_buttons() -> None:
    (block,) = MESSAGE.without_menus.blocks

    assert isinstance(block, Buttons)
    assert block.menus == ()
    assert [one.label for one in block.buttons] == ["Ack", "Silence: for 1 h", "Grafana"]


def test_plain_text_has_every_line_that_a_menu_runs() -> None:
    assert plain_text(MESSAGE).splitlines()[1:] == [
        "  [Ack] alert ack i1",
        "  [Silence: for 1 h] silence incident i1 --for 1h",
        "  [Grafana] https://g/d",
        "  [Hand over to…] alert hand-over i1 PERSON",
    ]


def test_with_several_clusters_every_line_of_a_menu_names_its_own() -> None:
    (block,) = with_cluster(MESSAGE, "prod-b").blocks

    assert isinstance(block, Buttons)
    silence, hand_over, more = block.menus
    assert silence.options[0].line == "silence incident i1 --for 1h --cluster prod-b"
    assert hand_over.people_line == "alert hand-over i1 --cluster prod-b"
    assert more.options[0].line == ""
