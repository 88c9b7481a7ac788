"""`pod list` with 5,000 pods, in soak with 50,000: bounded in time, over a look at each, and in what it answers."""

from dataclasses import replace
from time import process_time
from typing import Any, cast

import pytest

from alerts.cards.message import Table
from collectors.cluster.inventory import Inventory
from collectors.cluster.memo import Memo
from collectors.facts.topology import Topology
from collectors.pod_troubles import why_not_running
from commands.core.command import Answer
from commands.core.context import CommandContext, Defaults
from commands.core.named_pod import user_of_pod
from commands.core.request import Actor
from commands.pod.pod_list import IN_FILE, PAGE, ListPods, listing
from tests.support.examples import by_profile
from tests.support.objects import NOW, inventory, node, pod
from tests.support.yard import text_of

PODS = by_profile(5_000, 50_000)
WAITING, NODES, TRIES = PODS // 2, 10, 2


class Cluster:
    name = "prod-a"

    def __init__(self, seen: Inventory) -> None:
        self._seen = seen

    def inventory(self) -> Inventory:
        return self._seen

    def topology(self) -> Topology:
        return Topology(cluster="prod-a")


@pytest.fixture(scope="module")
def seen() -> Inventory:
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    waits = {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
    }
    return inventory(
        *(node(f"n{number}") for number in range(NODES)),
        *(
            pod(f"p-{number}", f"team-{number % 50}", status=waits)
            if number < WAITING
            else pod(
                f"p-{number}",
                f"team-{number % 50}",
                labels={"owner": "ana"} if number % 50 == 7 else {},
                spec={"nodeName": f"n{number % NODES}"},
                status=ready,
            )
            for number in range(PODS)
        ),
    )


def a_context(seen: Inventory) -> CommandContext:
    return CommandContext(
        actor=Actor(id="U", name="ana"),
        now=NOW,
        cluster=cast(Any, Cluster(seen)),
        store=cast(Any, None),
        defaults=Defaults(),
    )


async def listed(seen: Inventory, **asked: Any) -> Answer:
    return await listing(ListPods(**asked), a_context(seen))


@pytest.mark.parametrize(
    ("asked", "most"),
    [({}, 0.8), ({"all": True}, 0.8), ({"mine": True}, 1.6)],
    ids=["troubled", "all", "mine"],
)
async def test_a_list_of_many_takes_less_than_to_say_of_each_what_the_list_says(
    seen: Inventory, asked: dict[str, Any], most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only `--mine` asks of each pod whose it is; a page and a file are bounded."""
    monkeypatch.setattr("commands.pod.pod_list.IN_FILE", PODS // 50)
    reading: list[float] = []
    listing_them: list[float] = []
    for _ in range(TRIES):
        context = a_context(replace(seen, memo=Memo()))
        start = process_time()
        assert (
            len([(why_not_running(one, seen), user_of_pod(one, context)) for one in seen.pods.values()])
            == PODS
        )
        reading.append(process_time() - start)
        start = process_time()
        await listed(replace(seen, memo=Memo()), **asked)
        listing_them.append(process_time() - start)
    print(f"{asked}: {min(listing_them):.2f} s, and {min(reading):.2f} s")
    assert min(listing_them) <= most * min(reading), f"{min(listing_them):.2f} s, and {min(reading):.2f} s"


async def test_pages_and_a_file_have_the_rest(seen: Inventory) -> None:
    first = await listed(seen)
    assert f"{WAITING} of {PODS} pods not running" in text_of(first.message).replace(",", "")
    (table,) = [block for block in first.message.blocks if isinstance(block, Table)]
    assert len(table.rows) == PAGE
    (file,) = first.message.attachments
    lines = file.content.splitlines()
    assert len(lines) == IN_FILE + 2
    assert str(WAITING - IN_FILE) in lines[-1].replace(",", "")
    assert "[Next page] pod list --page 2" in text_of(first.message)

    last = await listed(seen, page=-(-WAITING // PAGE))
    (table,) = [block for block in last.message.blocks if isinstance(block, Table)]
    assert len(table.rows) == (WAITING % PAGE or PAGE)
    assert not last.message.attachments
    assert "Next page" not in text_of(last.message)


async def test_the_next_page_keeps_the_filter(seen: Inventory) -> None:
    said = text_of((await listed(seen, node="n9", all=True)).message)
    assert "[Next page] pod list --node n9 --all --page 2" in said
