"""A store that a release wrote, and the world around it: the cluster's objects, and Slack's messages as they were."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from collectors.facts.clock import SystemClock
from demo.environment import BOT, CLUSTER, ClusterAccess, EnvironmentOptions, bot_settings
from demo.lookalikes.elasticsearch.lookalike import ElasticsearchLookalike
from demo.lookalikes.kubernetes import KubernetesLookalike, User
from demo.lookalikes.slack import Options, Person, SlackLookalike
from demo.lookalikes.slack.lookalike import Members
from demo.lookalikes.slack.state.messages import Message
from tests.support.light_stage import Light, PushedClock
from tests.support.scripted_prometheus import ScriptedPrometheus

FOLDER = Path(__file__).parents[1] / "recordings" / "stores"
RELEASES = sorted(path.name.removesuffix(".db.gz") for path in FOLDER.glob("*.db.gz"))
PAUSE = timedelta(seconds=5)  # between the end of the old program and the start of the new one


def unpack(release: str, folder: Path) -> Path:
    """Write the store of a release into the folder, and return its path."""
    file = folder / "yard.db"
    file.write_bytes(gzip.decompress((FOLDER / f"{release}.db.gz").read_bytes()))
    return file


def shown_then(release: str) -> dict[str, Any]:
    """Return what the release showed of the store's rows."""
    return _read(f"{release}.json.gz")


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress((FOLDER / name).read_bytes()))
    return found


@asynccontextmanager
async def stage_of(release: str, folder: Path) -> AsyncIterator[Light]:
    """Yield a stage that continues where the release stopped: its bot is not started, and Prometheus is down."""
    world = _read(f"{release}.world.json.gz")
    clock = PushedClock()
    clock.set_by(datetime.fromisoformat(world["at"]) + PAUSE - SystemClock().now())
    members = world["members"]
    async with AsyncExitStack() as stack:
        kube = await stack.enter_async_context(
            KubernetesLookalike.running(
                tokens={"bot": User(BOT, ("system:masters",))}, clock=clock.now, controllers=False
            )
        )
        _put_objects(kube, world["objects"])
        elastic = await stack.enter_async_context(ElasticsearchLookalike.running())
        prometheus = await stack.enter_async_context(ScriptedPrometheus.running())
        await prometheus.goes("503")
        slack = await stack.enter_async_context(
            SlackLookalike.running(
                Members(
                    people=[Person(**one) for one in members["people"]],
                    channels=members["channels"],
                    usergroups=members["groups"],
                ),
                options=Options(strict_rates=False),
                clock=clock,
            )
        )
        for one in world["messages"]:
            slack.workspace.conversations.keep(Message(**one))
        kubeconfig = folder / "kubeconfig"
        kube.kubeconfig(kubeconfig, token="bot")
        access = ClusterAccess(url=kube.url, token=kube.admin_token, ca_file=None, kubeconfig=kubeconfig)
        settings = bot_settings(EnvironmentOptions(folder=folder), access, elastic.url, slack, prometheus.url)
        settings["rules"]["objects"] = True
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        stage = Light(
            folder=folder,
            clock=clock,
            slack=slack,
            kube=kube,
            prometheus=prometheus,
            elastic=elastic,
            settings=settings,
            tasks=tasks,
        )
        unpack(release, folder)
        assert world["cluster"] == CLUSTER
        try:
            yield stage
        finally:
            await prometheus.goes("")
            await stage.stop()


def _put_objects(kube: KubernetesLookalike, objects: list[dict[str, Any]]) -> None:
    """Store the objects as they were, with their uids; first those that define other kinds."""
    cluster = kube.cluster
    for tree in sorted(objects, key=lambda one: one["kind"] != "CustomResourceDefinition"):
        if tree["kind"] == "CustomResourceDefinition":
            kube.create(
                {key: value for key, value in tree.items() if key != "status"}
                | {"metadata": {"name": tree["metadata"]["name"]}}
            )
            continue
        kind = cluster.kinds.of(tree["apiVersion"], tree["kind"])
        assert kind is not None, tree["kind"]
        cluster.store.put(kind, tree)
