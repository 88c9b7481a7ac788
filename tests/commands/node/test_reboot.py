"""`node reboot`: a request by annotation, label or webhook; drained first; the wait until the node is back."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.jobs.hook_caller import Hook, HookCaller
from commands.core.context import Defaults
from commands.core.reboots import REBOOT_HOOK, RebootDefaults
from commands.execution.executor import PlanExecutor
from commands.execution.hooks import ID_HEADER, SIGNATURE_HEADER, TIME_HEADER, HookAnswer, signature_of_call
from commands.execution.plan import Plan, PlanState, StepState
from commands.execution.plan_card import card_of
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.drained import quick
from tests.support.webhook_receiver import WebhookReceiver
from tests.support.yard import DANA, Yard, lookalike_with, text_of, yard_before

NODE = "gpu-a01"
ASKED = {"reboot.example/now": "yes"}
BY_ANNOTATION = RebootDefaults(annotation=ASKED, within=timedelta(minutes=10))
BY_LABEL = RebootDefaults(label=ASKED, within=timedelta(minutes=10))
BY_WEBHOOK = RebootDefaults(has_webhook=True, within=timedelta(minutes=10))


class Stage:
    """A cordoned node with a boot id, and a pipeline."""

    def __init__(self, kube: KubernetesLookalike, yard: Yard) -> None:
        self.kube, self.yard = kube, yard

    def boot(self, id: str) -> None:
        self.kube.patch("nodes", "", NODE, {"status": {"nodeInfo": {"bootID": id}}}, status=True)

    @property
    def meta(self) -> Mapping[str, Any]:
        node = self.kube.get("nodes", "", NODE)
        assert node is not None
        return dict(node["metadata"])

    def add_pod(self, name: str, **meta: Any) -> None:
        tree = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", **meta},
            "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "i"}]},
            "status": {"phase": "Running"},
        }
        self.kube.create(tree, namespace="default", keep_status=True)

    async def begun(self, executor: PlanExecutor | None = None) -> tuple[Plan, "asyncio.Task[Plan]"]:
        plan = await self.yard.confirmed(await self.yard.plan(f"node reboot {NODE} --reason xid79"))
        run = (executor or self.yard.executor).execute(plan)
        return plan, asyncio.get_running_loop().create_task(run)

    async def until_waiting(self, plan: Plan, number: int) -> None:
        async with asyncio.timeout(20):
            while (await self.yard.records(plan))[number].outcome != "it is one":  # noqa: ASYNC110 - nothing to wait for
                await asyncio.sleep(0.02)


@asynccontextmanager
async def a_stage(folder: Path, reboot: RebootDefaults) -> AsyncGenerator[Stage]:
    async with lookalike_with(NODE) as kube:
        kube.patch("nodes", "", NODE, {"spec": {"unschedulable": True}})
        config = kube.kubeconfig(folder / "config")
        async with yard_before(config, policy=Defaults(reboot=reboot), pause=quick) as yard:
            stage = Stage(kube, yard)
            stage.boot("one")
            yield stage


@pytest.mark.parametrize("settings", [BY_ANNOTATION, BY_LABEL], ids=["annotation", "label"])
async def test_it_is_asked_for_waited_for_and_taken_back(tmp_path: Path, settings: RebootDefaults) -> None:
    part = "annotations" if settings.annotation else "labels"
    async with a_stage(tmp_path, settings) as stage:
        plan, task = await stage.begun()
        await stage.until_waiting(plan, 1)
        assert stage.meta[part]["reboot.example/now"] == "yes"
        stage.boot("two")
        over = await task
        assert over.state is PlanState.DONE, over.error
        assert "reboot.example/now" not in (stage.meta.get(part) or {})
        assert "Undo" not in text_of(card_of(over, await stage.yard.records(over))), "nothing is left to undo"


async def test_a_node_that_does_not_come_back_ends_the_wait_and_an_undo_takes_the_request_back(
    tmp_path: Path,
) -> None:
    soon = RebootDefaults(annotation=ASKED, within=timedelta(seconds=1))
    async with a_stage(tmp_path, soon) as stage:
        _, task = await stage.begun()
        over = await task
        assert over.state is PlanState.FAILED
        assert "timeout after 1 s; it is one" in over.error
        await stage.yard.do(f"plan undo {over.id}")
        assert "reboot.example/now" not in (stage.meta.get("annotations") or {})


async def test_a_node_that_was_rebooted_meanwhile_is_not_asked_again(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_ANNOTATION) as stage:
        plan = await stage.yard.confirmed(await stage.yard.plan(f"node reboot {NODE}"))
        stage.boot("two")
        over = await stage.yard.executor.execute(plan)
        assert "status.nodeInfo.bootID is 'two' now, not 'one' as shown" in over.error


async def test_a_node_that_is_replaced_under_its_name_ends_the_wait(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_ANNOTATION) as stage:
        plan, task = await stage.begun()
        await stage.until_waiting(plan, 1)
        stage.kube.delete("nodes", "", NODE)
        over = await task
        assert f"node {NODE} no longer exists" in over.error


async def test_an_uncordon_by_others_meanwhile_stops_it(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_ANNOTATION) as stage:
        plan = await stage.yard.confirmed(await stage.yard.plan(f"node reboot {NODE}"))
        stage.kube.patch("nodes", "", NODE, {"spec": {"unschedulable": None}})
        over = await stage.yard.executor.execute(plan)
        assert over.state is PlanState.FAILED
        assert "spec.unschedulable is" in over.error


async def test_refusals_say_what_to_do(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_ANNOTATION) as stage:
        stage.add_pod("web")
        assert "1 pod is still there (default/web)" in await stage.yard.say(f"node reboot {NODE}")
        stage.kube.delete("pods", "default", "web")
        stage.add_pod("rook-ceph-osd-3-x", labels={"app": "rook-ceph-osd"}, ownerReferences=[])
        assert "the settings name no team for storage" in await stage.yard.say(f"node reboot {NODE}")
        stage.kube.patch(
            "nodes", "", NODE, {"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}}}
        )
        assert "is a node of the control plane" in await stage.yard.say(f"node reboot {NODE}")
    async with a_stage(tmp_path, RebootDefaults()) as stage:
        assert "do not say who reboots nodes here" in await stage.yard.say(f"node reboot {NODE}")


async def test_an_osd_host_is_rebooted_by_its_storage_team_and_a_second_person(tmp_path: Path) -> None:
    labels = {"kubernetes.io/hostname": NODE}
    theirs = RebootDefaults(annotation=ASKED, storage_team="sre", storage_labels=labels)
    others = RebootDefaults(annotation=ASKED, storage_team="storage", storage_labels=labels)
    async with a_stage(tmp_path, theirs) as stage:
        plan = await stage.yard.plan(f"node reboot {NODE}", DANA)
        assert "`noout`" in plan.breaks[0]
    async with a_stage(tmp_path, others) as stage:
        assert "Only team storage may ask for its reboot" in await stage.yard.say(f"node reboot {NODE}")


def caller(stage: Stage, url: str, *, timeout: timedelta = timedelta(seconds=7)) -> PlanExecutor:
    hook = Hook(url=lambda: url, secret=lambda: "s3cret", timeout=timeout)
    hooks = HookCaller({REBOOT_HOOK: hook}, stage.yard.clock)

    async def pause(seconds: float) -> None:
        await asyncio.sleep(seconds / 1000)

    return PlanExecutor(stage.yard.store, {"prod-a": stage.yard.writer}, stage.yard.clock, pause, hooks=hooks)


async def test_a_webhook_gets_a_signed_call_and_its_answer_is_in_the_journal(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_WEBHOOK) as stage, WebhookReceiver.running() as receiver:
        plan, task = await stage.begun(caller(stage, receiver.url))
        await stage.until_waiting(plan, 1)
        stage.boot("two")
        over = await task
        assert over.state is PlanState.DONE, over.error
        (raw,), (headers,) = receiver.raw, receiver.headers
        body = json.loads(raw)
        assert (body["action"], body["node"], body["boot_id"]) == ("reboot", NODE, "one")
        assert body["id"] == headers[ID_HEADER] == f"{plan.id}/reboot/{NODE}"
        assert headers[SIGNATURE_HEADER] == signature_of_call("s3cret", headers[TIME_HEADER], raw)
        assert (await stage.yard.records(over))[0].outcome == "answered 200"


async def test_a_webhook_that_answers_500_is_called_again_with_the_same_id(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_WEBHOOK) as stage, WebhookReceiver.running() as receiver:
        for status in (500, 503, 429):
            receiver.answer(status)
        plan, task = await stage.begun(caller(stage, receiver.url))
        await stage.until_waiting(plan, 1)
        stage.boot("two")
        assert (await task).state is PlanState.DONE
        assert len(receiver.raw) == 4
        assert len({headers[ID_HEADER] for headers in receiver.headers}) == 1


async def test_a_webhook_that_refuses_ends_the_plan_with_what_it_said(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_WEBHOOK) as stage, WebhookReceiver.running() as receiver:
        receiver.answer(403)
        _, task = await stage.begun(caller(stage, receiver.url))
        over = await task
        assert "webhook `reboot` answered 403: nothing. This step was not done." in over.error
        assert receiver.url not in over.error


async def test_a_webhook_that_never_answers_leaves_it_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("commands.execution.steps.call.Call.limit", 0.5)
    async with a_stage(tmp_path, BY_WEBHOOK) as stage, WebhookReceiver.running() as receiver:
        receiver.latency = 0.3
        plan, task = await stage.begun(caller(stage, receiver.url, timeout=timedelta(seconds=0.1)))
        over = await task
        assert (await stage.yard.records(plan))[0].state is StepState.UNKNOWN
        assert "webhook `reboot` gave no answer" in over.error
        assert "It is not known whether this step was done" in over.error


class Saying:
    """Webhooks that answer with this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def call(self, hook: str, *, id: str, body: bytes) -> HookAnswer:
        return HookAnswer(status=200, text=self._text)


async def test_what_a_webhook_answers_is_one_line_without_secrets(tmp_path: Path) -> None:
    async with a_stage(tmp_path, BY_WEBHOOK) as stage:
        hooks = Saying("ok\n\x1b[31m<!channel> password=hunter2hunter2 " + "x" * 9000)
        runs = PlanExecutor(
            stage.yard.store, {"prod-a": stage.yard.writer}, stage.yard.clock, quick, hooks=hooks
        )
        plan, task = await stage.begun(runs)
        await stage.until_waiting(plan, 1)
        stage.boot("two")
        await task
        said = (await stage.yard.records(plan))[0].outcome
        assert "hunter2" not in said
        assert "\x1b" not in said
        assert "\n" not in said
        assert len(said) < 600
