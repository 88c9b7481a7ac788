"""The kinds of training that the settings leave out: neither watched nor launched, and nobody calls them unseen."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from bot.settings.schema import CommandsSettings
from collectors.cluster.cache import ClusterCache
from collectors.cluster.inventory import Inventory, inventory_of
from collectors.cluster.kinds import JOBSETS, MPIJOBS, MPIJOBS_V2BETA1, RAYJOBS, TRAINJOBS
from collectors.sources.kubernetes.client import KubernetesClient, KubernetesOptions
from collectors.sources.kubernetes.source import KubernetesSource
from collectors.trainings.catalogue import left_out, unseen_kinds
from commands.core.context import Defaults
from demo.lookalikes.kubernetes import KubernetesLookalike
from demo.side_tasks import beside
from tests.support.cluster_cache import CALM
from tests.support.yard import ANA, Hands, yard_before


def test_what_a_used_kind_needs_is_watched_although_it_is_a_kind_of_its_own() -> None:
    off = left_out(("job", "trainjob"))
    assert {RAYJOBS, MPIJOBS, MPIJOBS_V2BETA1} <= set(off)
    assert not {JOBSETS, TRAINJOBS} & set(off)
    assert left_out(()) == ()


def test_a_kind_that_there_is_not_is_refused_in_the_settings() -> None:
    assert CommandsSettings(training_kinds=("job", "vcjob")).training_kinds == ("job", "vcjob")
    with pytest.raises(ValidationError, match=r"caffejob is no kind of training; known: job, jobset, "):
        CommandsSettings(training_kinds=("caffejob",))


async def test_a_kind_that_is_left_out_is_not_launched(kube: KubernetesLookalike, tmp_path: Path) -> None:
    policy = Defaults(training_kinds=("job", "jobset"))
    async with yard_before(kube.kubeconfig(tmp_path / "config"), policy=policy) as yard:
        reply = await yard.say("training launch x --kind tfjob --image registry.example/m:1", ANA)
        assert "--kind tfjob is not used here. commands.training_kinds has job, jobset" in reply


@asynccontextmanager
async def running(cache: ClusterCache) -> AsyncGenerator[None]:
    async with beside(cache.run()):
        await cache.synced(timedelta(seconds=20))
        yield


async def test_a_kind_that_is_left_out_is_neither_asked_for_nor_unseen(
    kube: KubernetesLookalike, tmp_path: Path
) -> None:
    kubeconfig = str(kube.kubeconfig(tmp_path / "config"))
    client = await KubernetesClient.connect(KubernetesOptions(kubeconfig=kubeconfig))
    cache = ClusterCache(KubernetesSource(client), clock=Hands(), timing=CALM, without=left_out(("job",)))
    try:
        async with running(cache):
            found = inventory_of(cache)
            assert isinstance(found, Inventory)
            assert unseen_kinds(found) == {}
            assert not found.all(JOBSETS)
            assert not [seen for seen in kube.requests if "jobset" in seen.path]
    finally:
        await client.close()
