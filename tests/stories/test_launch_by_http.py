"""A training that is launched over HTTP is reported in the default channel."""

from pathlib import Path

import aiohttp

from tests.support.light import CHANNEL, TOKEN, light


async def test_the_card_of_a_launch_by_http_is_posted_in_the_default_channel(tmp_path: Path) -> None:
    async with light(tmp_path) as stage, aiohttp.ClientSession() as http:

        async def post(line: str) -> str:
            address, bearer = (
                f"{stage.yard.server.address}/api/yard/lines",
                {"Authorization": f"Bearer {TOKEN}"},
            )
            async with http.post(address, json={"line": line}, headers=bearer) as answer:
                return str((await answer.json())["text"])

        answer = await post("training launch resnet --image busybox --workers 1 --gpus 1")
        (plan,) = await stage.plans()
        assert "Launch" in answer
        await post(f"plan confirm {plan.id} --hash {plan.hash}")
        await stage.plan_is("done")
        card = await stage.card("resnet/resnet: ")
        assert card.channel == stage.slack.id(CHANNEL)
        refused = [
            one for one in stage.slack.calls if one.method == "chat.postMessage" and one.outcome != "ok"
        ]
        assert refused == []
