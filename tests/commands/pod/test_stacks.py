"""`pod stacks`: what is run where, how the ranks are grouped, and what a person reads where it is forbidden."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from commands.core.context import Defaults
from commands.execution.plan import Plan, PlanState
from commands.execution.plan_card import card_of
from commands.execution.tools.tool_list import TOOLS
from demo.lookalikes.kubernetes import KubernetesLookalike, User
from tests.commands.training.test_rights import RIGHTS, grant
from tests.support.quick_yaml import from_yaml
from tests.support.yard import Yard, text_of, yard_before

IN_ALL_REDUCE = b"""Process 7: python train.py --password=hunter2hunter2
Python v3.12.3 (/usr/bin/python3.12)

Thread 7 (idle): "MainThread"
    all_reduce (torch/distributed/distributed_c10d.py:2501)
    main (train.py:9)
"""
IN_LOADER = b"""Process 7: python train.py
Python v3.12.3 (/usr/bin/python3.12)

Thread 7 (idle): "MainThread"
    _try_get_data (torch/utils/data/dataloader.py:1131)
    main (train.py:7)
"""
RUNS = {"containerStatuses": [{"name": "main", "restartCount": 0, "state": {"running": {}}}]}


WEB = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"nodeName": "gpu-a01", "containers": [{"name": "main", "image": "i"}]},
    "status": {"phase": "Running", **RUNS},
}


async def card(yard: Yard, plan: Plan) -> str:
    return text_of(card_of(plan, await yard.records(plan)))


async def do(yard: Yard, line: str) -> str:
    """Run a line, and return the card of its plan."""
    over = await yard.do(line)
    return await card(yard, over)


async def test_the_ranks_of_a_training_are_grouped_and_the_outlier_is_named(
    yard: Yard, kube: KubernetesLookalike, add_training: Callable[..., Any]
) -> None:
    await add_training(4, gpus=1, **RUNS)
    asked = []

    async def stacks(
        _namespace: str, pod: str, container: str, command: tuple[str, ...]
    ) -> tuple[bytes, int]:
        asked.append((pod, container, command))
        return (IN_LOADER if pod == "detr-2" else IN_ALL_REDUCE), 0

    kube.execs = stacks
    said = await do(yard, "pod stacks detr")
    assert "3 of 4 (" in said
    assert "wait in all_reduce" in said
    assert "1 of 4 (" in said
    assert "2): in the data loader" in said
    assert "all_reduce (torch/distributed/distributed_c10d.py:2501)" in said
    assert "hunter2hunter2" not in said
    assert {command for _, _, command in asked} == {TOOLS["py-spy"].command}
    assert len(asked) == 4


async def test_a_container_without_the_program_is_said_and_how_it_is_run_anyway(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    await add_pod("web", status=RUNS)

    async def missing(*_: Any) -> tuple[bytes, int]:
        return b"", 127

    kube.execs = missing
    said = await do(yard, "pod stacks web")
    assert "container main has no py-spy" in said
    kube.execs = None  # the runtime itself says it
    assert "container main has no ncclras" in await do(yard, "pod stacks web --tool ncclras")


async def test_a_pod_that_does_not_run_is_refused_in_words(yard: Yard, add_pod: Callable[..., Any]) -> None:
    await add_pod("done", status={"phase": "Succeeded"})
    assert "No pod of work/done runs now: done." in await yard.say("pod stacks done")
    assert "no container side" in await _with(yard, add_pod)


async def _with(yard: Yard, add_pod: Callable[..., Any]) -> str:
    await add_pod("web", status=RUNS)
    return await yard.say("pod stacks web --container side")


async def test_a_program_that_is_not_of_the_list_is_refused(yard: Yard, add_pod: Callable[..., Any]) -> None:
    await add_pod("web", status=RUNS)
    assert "is not one of" in await yard.say("pod stacks web --tool bash")
    assert "is not one of" in await yard.say('pod stacks web --tool "py-spy; rm -rf /"')


async def test_a_container_that_starts_is_waited_for_and_one_that_ended_is_said(
    yard: Yard, kube: KubernetesLookalike, add_pod: Callable[..., Any]
) -> None:
    ended = {
        "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": {"exitCode": 1}}}]
    }
    await add_pod("ended", status=ended)
    over = await yard.do("pod stacks ended")
    assert over.state is PlanState.FAILED
    assert "container main has ended" in await card(yard, over)


async def test_a_container_is_added_only_with_an_image_of_the_settings(
    yard: Yard, add_pod: Callable[..., Any]
) -> None:
    await add_pod("web", status=RUNS)
    assert "set commands.stacks_image" in await yard.say("pod stacks web --add-container")


@asynccontextmanager
async def with_image(kube: KubernetesLookalike, folder: Path) -> AsyncIterator[Yard]:
    """Let containers be added, and run one pod."""
    policy = Defaults(stacks_image="registry.example/py-spy:1")
    async with yard_before(kube.kubeconfig(folder / "second"), policy=policy) as yard:
        kube.create(WEB, namespace="work", keep_status=True)
        await yard.seen(lambda: "work/web" in yard.cluster.inventory().pods)
        yield yard


async def test_an_added_container_sees_the_processes_of_the_other_and_those_before_stay(
    kube: KubernetesLookalike, tmp_path: Path
) -> None:
    async with with_image(kube, tmp_path) as yard:

        async def stacks(_namespace: str, _pod: str, container: str, _command: Any) -> tuple[bytes, int]:
            assert container.startswith("yardmaster-stacks-")
            return IN_ALL_REDUCE, 0

        kube.execs = stacks
        for number in (1, 2):
            plan = await yard.plan("pod stacks web --add-container")
            stored = await yard.confirmed(plan)
            async with asyncio.TaskGroup() as group:
                runs = group.create_task(yard.executor.execute(stored))
                await _starts(kube, f"yardmaster-stacks-{number}")
            over = runs.result()
            assert over.state is PlanState.DONE, over.error
            assert "wait in all_reduce" in await card(yard, over)
        added = (kube.get("pods", "work", "web") or {})["spec"]["ephemeralContainers"]
        assert [one["name"] for one in added] == ["yardmaster-stacks-1", "yardmaster-stacks-2"]
        assert added[0]["targetContainerName"] == "main"
        assert added[0]["securityContext"] == {"capabilities": {"add": ["SYS_PTRACE"]}}


async def _starts(kube: KubernetesLookalike, name: str) -> None:
    """Start the added container, as a kubelet does."""
    async with asyncio.timeout(20):
        while not any(  # noqa: ASYNC110 - there is no event to wait for
            one["name"] == name
            for one in (kube.get("pods", "work", "web") or {})["spec"].get("ephemeralContainers", ())
        ):
            await asyncio.sleep(0.02)
    running = {"name": name, "restartCount": 0, "state": {"running": {}}}
    kube.patch("pods", "work", "web", {"status": {"ephemeralContainerStatuses": [running]}}, status=True)


async def test_where_added_containers_are_forbidden_the_preview_says_so(
    kube: KubernetesLookalike, tmp_path: Path
) -> None:
    async with with_image(kube, tmp_path) as yard:
        kube.fail(lambda request: request.path.endswith("/ephemeralcontainers"), 403)
        reply = await yard.say("pod stacks web --add-container")
        assert "Kubernetes would refuse to add container yardmaster-stacks-1 to work/web" in reply
        assert "403" in reply
        assert await yard.newest() is None


async def test_it_runs_with_the_rights_of_the_chart_and_without_them_says_which_is_missing(
    tmp_path: Path,
) -> None:
    rights = from_yaml(RIGHTS.read_text())
    async with KubernetesLookalike.running(tokens={"bot": User("bot")}, controllers=False) as kube:
        grant(kube, "look", rights["look"]["cluster"])
        kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "work"}})
        kube.create(WEB, namespace="work", keep_status=True)

        async def stacks(*_: Any) -> tuple[bytes, int]:
            return IN_ALL_REDUCE, 0

        kube.execs = stacks
        async with yard_before(kube.kubeconfig(tmp_path / "bot", token="bot")) as yard:
            over = await yard.do("pod stacks web")
            assert over.state is PlanState.FAILED
            assert "pods/exec" in over.error
            grant(kube, "act", rights["act"]["pod stacks"]["cluster"])
            assert "wait in all_reduce" in await do(yard, "pod stacks web")
