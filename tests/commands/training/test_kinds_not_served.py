"""A cluster without JobSets: nothing else is missing, and a launch as one is refused."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from collectors.cluster.kinds import JOBSETS
from commands.execution.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike, Settings, User
from tests.commands.training.test_rights import grant
from tests.support.custom_kinds import a_definition
from tests.support.yard import ANA, DANA, Hands, Yard, a_node_tree, yard_before

LINE = "training launch mnist --image registry.example/mnist:7 --gpus 1"


async def test_a_launch_of_a_kind_that_is_not_served_is_refused(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    reply = await yard.say(f"{LINE} --kind jobset", ANA)
    assert "This cluster has no JobSets: it does not serve jobset.x-k8s.io/v1alpha2." in reply
    assert "launch with --kind job" in reply
    assert await yard.newest() is None
    assert kube.get("namespaces", "", "mnist") is None


async def test_the_other_kinds_are_seen_and_launched(yard: Yard) -> None:
    assert (await yard.do(LINE, ANA)).state is PlanState.DONE
    await yard.seen(lambda: [view.kind for view in yard.cluster.trainings()] == ["Job"])
    assert "cannot be seen" not in await yard.say("training list")


async def test_a_kind_that_is_installed_later_is_launched_without_a_restart(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.create(a_definition(JOBSETS))
    assert (await yard.do(f"{LINE} --kind jobset", ANA)).state is PlanState.DONE
    await yard.seen(lambda: [view.kind for view in yard.cluster.trainings()] == ["JobSet.jobset.x-k8s.io"])


async def test_an_unknown_kind_is_refused_with_the_known_ones(yard: Yard) -> None:
    assert "caffejob is not one of job, jobset" in await yard.say(f"{LINE} --kind caffejob", ANA)


async def test_a_kind_may_be_written_as_in_the_api(yard: Yard) -> None:
    assert "This cluster has no JobSets" in await yard.say(f"{LINE} --kind JobSet", ANA)


async def test_what_a_kind_cannot_do_is_refused_with_the_reason(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.create(a_definition(JOBSETS))
    reply = await yard.say(f"{LINE} --kind jobset --service-per-task", ANA)
    assert "--service-per-task is not for JobSets" in reply
    assert "mnist-worker-0-0.mnist" in reply


LOOK_BUT_NO_JOBSETS = [
    {"apiGroups": [group], "resources": ["*"], "verbs": ["get", "list", "watch"]}
    for group in ("", "apps", "batch")
]


@pytest.fixture
async def limited(tmp_path: Path, clock: Hands) -> AsyncIterator[tuple[Yard, KubernetesLookalike]]:
    """A pipeline whose account may see everything but JobSets."""
    async with KubernetesLookalike.running(
        clock=clock.now, tokens={"bot": User("bot")}, settings=Settings(node_grace=None)
    ) as running:
        running.create(a_node_tree("gpu-a01"), keep_status=True)
        grant(running, "look", LOOK_BUT_NO_JOBSETS)
        async with yard_before(running.kubeconfig(tmp_path / "config", token="bot"), clock=clock) as made:
            yield made, running


async def test_a_kind_that_is_not_served_needs_no_right(limited: tuple[Yard, KubernetesLookalike]) -> None:
    yard, _ = limited
    assert "There are no trainings." in await yard.say("training list", DANA)


async def test_a_kind_that_is_served_and_forbidden_is_not_seen(
    limited: tuple[Yard, KubernetesLookalike],
) -> None:
    yard, kube = limited
    kube.create(a_definition(JOBSETS))
    await yard.seen(lambda: "jobsets" in yard.cluster.inventory().missing)
    assert "trainings of kind JobSet cannot be seen" in await yard.say("training list", DANA)
