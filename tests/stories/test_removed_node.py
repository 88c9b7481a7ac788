"""An incident whose node leaves the cluster resolves with the reason."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.light import HOT, RULES, light

PRESENCE = "gpu_temp"


def rules() -> dict[str, Any]:
    (group,) = RULES["groups"]
    (rule,) = group["rules"]
    watched = {**rule, "annotations": {**rule["annotations"], "presence": PRESENCE}}
    return {"groups": [{**group, "rules": [watched]}]}


async def test_an_incident_resolves_when_its_node_leaves_not_when_its_exporter_stops(tmp_path: Path) -> None:
    async with light(tmp_path, rules=rules()) as stage:
        say, labels = stage.prometheus.truth.say, {"node": "gpu-a01", "gpu": "3"}
        say(PRESENCE, (labels, 91.0), since=stage.clock.now())
        say(HOT, (labels, 91.0), since=stage.clock.now())
        card = await stage.card("gpu-a01 is hot")
        say(PRESENCE, since=stage.clock.now())
        say(HOT, since=stage.clock.now())
        await stage.next_rounds()
        stage.clock.forward(timedelta(minutes=1, seconds=1))  # then the card shows new values again
        await stage.slack.until(lambda: "no data since" in card.said, 60)
        assert "Resolved" not in card.said
        stage.kube.delete("nodes", "", "gpu-a01")
        await stage.slack.until(lambda: "gpu-a01 left the cluster" in card.said, 60)
        assert "Resolved" in card.said
        assert len(stage.cards()) == 1
