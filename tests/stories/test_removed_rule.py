"""An incident whose rule is removed resolves with the reason."""

from pathlib import Path

import yaml

from tests.support.light import HOT, light


async def test_an_incident_whose_rule_is_removed_resolves_after_a_restart(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91.0), since=stage.clock.now())
        card = await stage.card("gpu-a01 is hot")
        await stage.next_rounds()
        await stage.stop()
        other = {"groups": [{"name": "story", "rules": [{"alert": "Other", "expr": "other > 1"}]}]}
        (stage.folder / "story.yaml").write_text(yaml.safe_dump(other), "utf-8")
        await stage.start()
        await stage.slack.until(lambda: "the rule GPUTemperatureHigh is no longer in force" in card.said, 60)
        assert len(stage.cards()) == 1
        assert "No open incidents" in (await stage.asks("dana", "incident list")).said
