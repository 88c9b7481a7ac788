"""The contract of every notifier, and that of each capability that it claims."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from alerts.cards.message import Button, Buttons, Color, Image, Menu
from alerts.cards.text import text
from bot.delivery.notifier_protocol import (
    NewMessage,
    Permanent,
    Picture,
    Recoverable,
    SearchWindow,
    SendError,
    UnknownOutcome,
)
from tests.contract.notifiers.conftest import Site
from tests.support.incidents import an_incident_message

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
ALWAYS = SearchWindow(since=datetime(2001, 1, 1, tzinfo=UTC), until=datetime(2099, 1, 1, tzinfo=UTC))


async def test_a_card_is_posted_and_has_an_id(site: Site) -> None:
    first = await site.notifier.post(
        site.channel, NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1")
    )
    second = await site.notifier.post(
        site.channel, NewMessage(an_incident_message("gpu-b01 is hot", group="node/gpu-b01"), nonce="n2")
    )
    assert "" not in (first, second)
    assert first != second
    assert site.shown() == ["gpu-a04 is hot", "gpu-b01 is hot"]


async def test_a_changed_card_replaces_what_readers_saw(site: Site) -> None:
    can, over = site.notifier.capabilities, an_incident_message("gpu-a04 is well", is_open=False)
    id = await site.notifier.post(site.channel, NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1"))
    if can.edit:
        await site.notifier.edit(site.channel, id, over)
    else:
        await site.notifier.post(site.channel, NewMessage(over, nonce="n2"))
    assert site.shown()[-1] == "gpu-a04 is well"
    if not site.keeps_all:
        assert len(site.shown()) == 1


async def test_a_message_is_found_again_or_may_be_posted_twice(site: Site) -> None:
    id = await site.notifier.post(site.channel, NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1"))
    if site.notifier.capabilities.find:
        assert await site.notifier.find(site.channel, "n1", ALWAYS) == (id,)
        assert await site.notifier.find(site.channel, "another", ALWAYS) == ()
        await site.notifier.delete(site.channel, id)
        assert site.shown() == []
    else:
        await site.notifier.post(site.channel, NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1"))
        assert set(site.shown()) == {"gpu-a04 is hot"}
        assert site.keeps_all or len(site.shown()) == 1


async def test_a_reply_is_shown_where_there_are_threads(site: Site) -> None:
    if not site.notifier.capabilities.thread:
        with pytest.raises(Permanent):
            await site.notifier.post(site.channel, NewMessage(text("acknowledged"), nonce="n1"))
        return
    card = await site.notifier.post(
        site.channel, NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1")
    )
    await site.notifier.post(
        site.channel, NewMessage(text("acknowledged"), thread=card, nonce="n2", broadcast=True)
    )
    assert "acknowledged" in site.shown()


async def test_a_message_with_a_menu_is_accepted_where_there_are_buttons(site: Site) -> None:
    can = site.notifier.capabilities
    if not can.buttons:
        return
    menu = Menu(label="Silence", options=(Button(label="for 1 h", line="silence incident i1 --for 1h"),))
    message = replace(an_incident_message("gpu-a04 is hot"), blocks=(Buttons(menus=(menu,)),))
    await site.notifier.post(
        site.channel, NewMessage(message if can.menus else message.without_menus, nonce="n1")
    )
    assert site.shown() == ["gpu-a04 is hot"]


def test_it_has_a_limit_for_each_method_that_is_called(site: Site) -> None:
    can = site.notifier.capabilities
    called = {"post"} | ({"edit"} if can.edit else set()) | ({"find", "delete"} if can.find else set())
    assert called <= set(can.limits.methods)
    assert can.at_once >= 1


async def test_what_is_down_is_worth_a_retry_and_no_error_has_a_secret(site: Site) -> None:
    if site.break_down is None:
        return
    site.break_down()
    with pytest.raises(SendError) as caught:
        await site.notifier.post(site.channel, NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1"))
    assert isinstance(caught.value, Recoverable | UnknownOutcome)
    assert not [secret for secret in site.secrets if secret in f"{caught.value!r} {caught.value.__cause__!r}"]


async def test_a_channel_that_does_not_exist_is_refused(site: Site) -> None:
    if site.has_any_channel:
        return
    with pytest.raises(Permanent):
        await site.notifier.post("nowhere", NewMessage(an_incident_message("gpu-a04 is hot"), nonce="n1"))


async def test_every_color_can_be_posted(site: Site) -> None:
    for number, color in enumerate(Color):
        message = an_incident_message(color.value, color=color, group=f"node/{number}")
        await site.notifier.post(site.channel, NewMessage(message, nonce=f"n{number}"))
    assert site.shown() == [color.value for color in Color]


async def test_a_picture_is_shown_where_there_are_pictures(site: Site) -> None:
    card = an_incident_message("gpu-a04 is hot")
    id = await site.notifier.post(site.channel, NewMessage(card, nonce="n1"))
    picture = Picture(name="i1.png", content=PNG, alt="gpu 3: highest 109.")
    if not site.notifier.capabilities.images:
        with pytest.raises(Permanent):
            await site.notifier.upload(site.channel, picture, thread=id)
        return
    file = await site.notifier.upload(site.channel, picture, thread=id)
    shown = Image(file=file, alt=picture.alt)
    await site.notifier.edit(site.channel, id, replace(card, blocks=(*card.blocks, shown)))
    assert site.pictures() == [PNG]


async def test_a_card_is_shown_without_a_picture_that_is_gone(site: Site) -> None:
    if not site.notifier.capabilities.images:
        return
    card = an_incident_message("gpu-a04 is hot")
    gone = replace(card, blocks=(*card.blocks, Image(file="F0000000000", alt="gone")))
    id = await site.notifier.post(site.channel, NewMessage(gone, nonce="n1"))
    await site.notifier.edit(site.channel, id, replace(gone, title=text("gpu-a04 is well"), summary=""))
    assert site.shown() == ["gpu-a04 is well"]
    assert site.pictures() == []
