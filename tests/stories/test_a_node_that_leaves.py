"""This file tells what becomes of an incident whose node leaves the cluster: it ends, and says why."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.light import HOT, RULES, light

SEES = "gpu_temp"


def rules() -> dict[str, Any]:
    (group,) = RULES["groups"]
    (rule,) = group["rules"]
    watched = {**rule, "annotations": {**rule["annotations"], "presence": SEES}}
    return {"groups": [{**group, "rules": [watched]}]}


async def test_an_incident_ends_when_its_node_leaves_and_not_when_its_exporter_dies(tmp_path: Path) -> None:
    async with light(tmp_path, rules=rules()) as stage:
        say, there = stage.prometheus.truth.say, {"node": "gpu-a01", "gpu": "3"}
        say(SEES, (there, 91.0), since=stage.clock.now())
        say(HOT, (there, 91.0), since=stage.clock.now())
        card = await stage.card("gpu-a01 is hot")
        say(SEES, since=stage.clock.now())
        say(HOT, since=stage.clock.now())
        await stage.next_rounds()
        stage.clock.forward(timedelta(minutes=1, seconds=1))  # from when on a card's figures follow again
        await stage.slack.until(lambda: "nothing reports on it since" in card.said, 60)
        assert "Resolved" not in card.said
        stage.kube.delete("nodes", "", "gpu-a01")
        await stage.slack.until(lambda: "gpu-a01 is no longer in the cluster" in card.said, 60)
        assert "Resolved" in card.said
        assert len(stage.cards()) == 1
