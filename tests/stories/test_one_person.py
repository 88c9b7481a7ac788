"""A person with two ids, in Slack and by a token: one person, whichever they come by."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from alerts.incidents.incident import Incident
from collectors.facts.clock import SystemClock
from commands.models import CordonLease, Person
from tests.support.disruptive_command import with_wipe
from tests.support.light import HOT, TOKEN, Light, light

Post = Callable[[str], Awaitable[str]]
OPERATOR = {"actor": "ops", "token": TOKEN, "teams": ["sre"]}
POWERLESS = {"actor": "ops", "token": TOKEN, "teams": ["vision"]}


@asynccontextmanager
async def one_person(
    folder: Path, *, token: dict[str, Any], is_joined: bool = True
) -> AsyncIterator[tuple[Light, Post]]:
    """Yield a stage where dana has a token, and a function that sends a line with it."""
    async with light(folder, change=with_wipe, start=False) as stage, aiohttp.ClientSession() as http:
        stage.settings["http"]["auth"] = {"tokens": [token]}
        if is_joined:
            join(stage)
        await stage.start()

        async def post(line: str) -> str:
            bearer = {"Authorization": f"Bearer {TOKEN}"}
            address = f"{stage.yard.server.address}/api/yard/lines"
            async with http.post(address, json={"line": line}, headers=bearer) as answer:
                return str((await answer.json())["text"])

        yield stage, post


def join(stage: Light) -> None:
    stage.settings["people"] = {"dana": {"ids": ["token:ops", f"slack:{stage.slack.id('dana')}"]}}


async def test_the_requester_is_not_a_second_person_by_another_id(tmp_path: Path) -> None:
    async with one_person(tmp_path, token=OPERATOR) as (stage, post):
        await post("node wipe")
        (plan,) = await stage.plans()
        refused = await stage.asks("dana", f"plan confirm {plan.id} --hash {plan.hash}")
        assert "someone else has to confirm" in refused.said
        assert not stage.writes()
        await stage.asks("eli", f"plan confirm {plan.id} --hash {plan.hash}")
        done = await stage.plan_is("done")
        assert (done.actor_name, done.confirmed_by_name) == ("ops", "eli")
        assert done.actor == f"slack:{stage.slack.id('dana')}"


async def test_nobody_is_joined_by_a_name(tmp_path: Path) -> None:
    async with one_person(tmp_path, token={**OPERATOR, "actor": "dana"}, is_joined=False) as (stage, post):
        await post("node wipe")
        (plan,) = await stage.plans()
        await stage.asks("dana", f"plan confirm {plan.id} --hash {plan.hash}")
        done = await stage.plan_is("done")
        assert (done.actor, done.confirmed_by) == ("token:dana", f"slack:{stage.slack.id('dana')}")


async def test_what_dana_has_is_hers_by_the_other_id_too(tmp_path: Path) -> None:
    async with one_person(tmp_path, token=POWERLESS) as (stage, post):
        stage.prometheus.truth.say(HOT, ({"node": "gpu-b01"}, 91), since=SystemClock().now())
        await stage.card("gpu-b01 is hot")

        await stage.asks("dana", "alert ack i1")
        assert "acknowledged by you" in await post("home")

        await stage.asks("dana", "node cordon gpu-a01 --reason fan")
        (plan,) = await stage.plans()
        assert "cancelled, nothing was done" in await post(f"plan cancel {plan.id}")

        preview = await stage.asks("dana", "node cordon gpu-a02 --reason fan")
        await stage.presses("dana", preview, "Confirm")
        await stage.plan_is("done")
        assert "Uncordon gpu-a02" in await post("home")

        mine = await post("audit --by token:ops")
        assert "alert ack i1" in mine
        assert "plan cancel p1" in mine


async def test_what_the_token_left_is_danas_once_her_ids_are_joined(tmp_path: Path) -> None:
    async with one_person(tmp_path, token=OPERATOR, is_joined=False) as (stage, post):
        await post("node wipe")
        (plan,) = await stage.plans()
        await post("node cordon gpu-a02 --reason fan")
        cordon = next(one for one in await stage.plans() if one.command == "node cordon")
        await post(f"plan confirm {cordon.id} --hash {cordon.hash}")
        await stage.plan_is("done", cordon.id)
        await stage.stop()

        join(stage)
        await stage.start()

        refused = await stage.asks("dana", f"plan confirm {plan.id} --hash {plan.hash}")
        assert "someone else has to confirm" in refused.said
        assert "Uncordon gpu-a02" in (await stage.asks("dana", "home")).said
        async with stage.yard.store.read() as snapshot:
            (lease,) = await snapshot.rows(CordonLease).find()
            assert lease.owner == "token:ops"
            (dana,) = [one for one in await snapshot.rows(Person).find() if "token:ops" in one.ids]
        assert dana.id == f"slack:{stage.slack.id('dana')}"


async def test_a_card_mentions_the_person_in_slack(tmp_path: Path) -> None:
    async with one_person(tmp_path, token=OPERATOR) as (stage, post):
        stage.prometheus.truth.say(HOT, ({"node": "gpu-b01"}, 91), since=SystemClock().now())
        await stage.card("gpu-b01 is hot")
        await post("alert ack i1")
        await stage.card(f"acknowledged by <@{stage.slack.id('dana')}>")
        async with stage.yard.store.read() as snapshot:
            incident = await snapshot.rows(Incident).get("i1")
        assert incident is not None
        assert incident.acknowledged_by == f"slack:{stage.slack.id('dana')}"
