"""An answer names what it cannot see: what is blind, and what is not connected."""

from collections.abc import Mapping

import pytest

from alerts.cards.message import Color, Context, Message, Paragraph
from alerts.cards.text import plain
from bot.live_cluster import LiveCluster
from bot.settings.source_settings import ClusterSettings, PrometheusSettings
from bot.source_catalogue import not_connected
from commands.command_catalogue import LEXICON
from commands.core.context import NOT_CONNECTED, Defaults
from commands.core.pipeline import Pipeline
from commands.core.request import Request
from commands.execution.plan import Origin
from tests.support.memory_store import MemoryStore
from tests.support.yard import CLUSTER, DANA, EVERYTHING, NOON, Hands

BLIND = {"prometheus": "it refuses the connection", "elasticsearch": NOT_CONNECTED}


async def answered(line: str, unseen: Mapping[str, str], waiting: int = 0) -> Message:
    async def catch_up() -> int:
        return waiting

    pipeline = Pipeline(
        lexicon=LEXICON,
        permissions=EVERYTHING,
        store=MemoryStore(),
        clusters={CLUSTER: LiveCluster(CLUSTER, clock=Hands())},
        writers={},
        clock=Hands(),
        defaults=Defaults(),
        rules=dict,
        unseen=lambda cluster: unseen if cluster == CLUSTER else {},
        catch_up=catch_up,
    )
    request = Request(id="r1", line=line, actor=DANA, at=NOON, origin=Origin(via="slack"))
    answer = await pipeline.handle(request)
    assert answer is not None
    return answer.message


def said(message: Message) -> list[str]:
    return [plain(block.text) for block in message.blocks if isinstance(block, Paragraph | Context)]


@pytest.mark.parametrize(
    ("line", "nothing"),
    [
        ("alert list", "No firing alerts"),
        ("incident list", "No open incidents"),
    ],
)
async def test_a_list_that_cannot_see_does_not_say_that_there_is_nothing(line: str, nothing: str) -> None:
    blind, seen = await answered(line, BLIND), await answered(line, {})

    assert plain(blind.title) == f"{nothing} that Yardmaster can see."
    assert blind.color is Color.QUIET
    assert said(blind) == [
        "⚪ Cannot see it now: prometheus: it refuses the connection\nThis shows what was seen before that.",
        "Not connected: elasticsearch.",
    ]
    assert (plain(seen.title), seen.color, said(seen)) == (f"{nothing}.", Color.GOOD, [])


@pytest.mark.parametrize(
    ("line", "nothing"),
    [
        ("alert list", "No firing alerts"),
        ("incident list", "No open incidents"),
    ],
)
async def test_a_list_says_how_many_alerts_are_accepted_and_not_shown(line: str, nothing: str) -> None:
    behind = await answered(line, {}, waiting=3)

    assert (plain(behind.title), behind.color) == (f"{nothing} that Yardmaster can see.", Color.QUIET)
    assert said(behind) == ["3 alerts are accepted but not shown yet: ask again in a moment."]


async def test_an_answer_about_other_things_waits_for_no_alerts() -> None:
    assert not any("not yet shown" in line for line in said(await answered("node list", {}, waiting=3)))


async def test_an_answer_names_only_the_sources_that_it_is_made_of() -> None:
    other = {"elasticsearch": "it is away"}

    assert not any("Cannot see it now" in line for line in said(await answered("help", BLIND)))
    assert "⚪ Cannot see it now: elasticsearch: it is away" in said(await answered("home", other))[0]


@pytest.mark.parametrize("command", ["gpu list", "gpu idle", "dns show"])
def test_an_answer_about_gpus_or_dns_is_made_of_kubernetes_and_prometheus(command: str) -> None:
    (found,) = [one for one in LEXICON.catalogue if one.name == command]

    assert found.shows == ("kubernetes", "prometheus")


def test_a_source_that_the_settings_lack_is_not_connected() -> None:
    settings = ClusterSettings(name="a", kubernetes=None, prometheus=PrometheusSettings(url="http://p"))

    assert not_connected(settings) == {"elasticsearch": NOT_CONNECTED, "kubernetes": NOT_CONNECTED}
