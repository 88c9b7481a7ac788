"""A token file that is briefly empty during a rotation blinds only its source."""

from pathlib import Path

from tests.support.light import HOT, light


async def test_an_empty_token_file_blinds_prometheus_until_it_has_a_token(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    async with light(tmp_path, start=False) as stage:
        (cluster,) = stage.settings["clusters"]
        cluster["prometheus"]["authorization"] = {"type": "Bearer", "credentials_file": str(token)}
        await stage.start()
        token.write_text("")
        (evaluator,) = stage.yard.evaluators.values()
        reason = await stage.until(lambda: evaluator.blind.get("prometheus"))
        assert f"the secret in {token} is empty" in reason
        assert "node list" in (await stage.asks("dana", "help")).said
        token.write_text("second\n")
        await stage.until(lambda: "prometheus" not in evaluator.blind)
        stage.prometheus.truth.say(HOT, ({"node": "gpu-a01", "gpu": "3"}, 91.0), since=stage.clock.now())
        await stage.card("gpu-a01 is hot")
