"""A label that is no text is a card with its bytes escaped, and every rule is evaluated."""

from pathlib import Path

from tests.stories.test_own_metrics import scraped
from tests.support.light import HOT, light

ODD = "gpu-\udcff\udcfe"  # sent as the bytes ff and fe
SHOWN = r"gpu-\xff\xfe"


async def test_a_node_whose_name_is_no_text_has_its_card_and_others_have_theirs(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        heat = [({"node": node, "gpu": "0"}, 91.0) for node in (ODD, "gpu-a01")]
        stage.prometheus.truth.say(HOT, *heat, since=stage.clock.now())
        await stage.card("gpu-a01 is hot")
        await stage.card(f"{SHOWN} is hot")
        assert SHOWN in (await stage.asks("dana", "alert list")).said

        stage.prometheus.truth.say(HOT, *heat[:1], since=stage.clock.now())
        await stage.until(lambda: any("gpu-a01" in one.said and "✅" in one.said for one in stage.cards()))
        assert SHOWN in (await stage.asks("dana", "alert list")).said, "it is not over"
        failures = {
            name: value
            for (name, _), value in (await scraped(stage)).items()
            if name in ("yardmaster_internal_errors_total", "yardmaster_rule_evaluation_failures_total")
        }
        assert not any(failures.values())
