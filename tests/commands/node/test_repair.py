"""`node repair`: what it needs first, what it shows, and that nothing from outside is in a command line."""

import random
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commands.core.context import Defaults
from commands.core.node_jobs import job_name, job_step
from commands.core.node_script import NodeJobDefaults, NodeScript, Repair
from commands.execution.job_log import MAX_LINE, cleaned
from commands.execution.job_state import job_end_of, why_not_begun
from commands.execution.plan import Plan, PlanState, Risk
from commands.execution.steps import NodeJob, Patch, Wait
from commands.node.repair.repair_list import own_repairs
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import Yard, a_node_tree, lookalike_with, yard_before

NODE, SPACE = "gpu-a01", "yardmaster-jobs"
OPERATOR = {f"nvidia.com/gpu.deploy.{one}": "true" for one in ("device-plugin", "dcgm-exporter", "dcgm")}
OWN = Repair(
    name="flush",
    summary="flush the cache",
    script=NodeScript(name="repair/flush", text="echo flushed", image="own:1", on_host=True),
    second_person="it is a script of the settings",
)
POLICY = Defaults(node_jobs=NodeJobDefaults(image="tools:1"), repairs={"flush": OWN})


@pytest.fixture
async def kube() -> AsyncIterator[KubernetesLookalike]:
    async with lookalike_with(NODE) as made:
        made.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
        yield made


@pytest.fixture
async def yard(kube: KubernetesLookalike, tmp_path: Path) -> AsyncIterator[Yard]:
    async with yard_before(kube.kubeconfig(tmp_path / "config"), policy=POLICY) as made:
        yield made


def change(kube: KubernetesLookalike, patch: Mapping[str, Any]) -> None:
    kube.patch("nodes", "", NODE, dict(patch))


def cordon(kube: KubernetesLookalike) -> None:
    change(kube, {"spec": {"unschedulable": True}})


def a_pod(kube: KubernetesLookalike, name: str, *, gpus: int = 0, owner: str = "") -> None:
    owners = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": owner, "uid": "u", "controller": True}]
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    tree = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": owners if owner else []},
        "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "i", "resources": resources}]},
        "status": {"phase": "Running"},
    }
    kube.create(tree, namespace="default", keep_status=True)


async def end(yard: Yard, pod: str) -> None:
    """Delete a pod at once, as its kubelet does in the end."""
    path = f"/api/v1/namespaces/default/pods/{pod}"
    await yard.writer._client.call("DELETE", path, body={"gracePeriodSeconds": 0})


def job_of(plan: Plan) -> NodeJob:
    (job,) = [step for step in plan.steps if isinstance(step, NodeJob)]
    return job


async def test_the_preview_says_where_it_runs_as_what_and_for_how_long(yard: Yard) -> None:
    plan = await yard.plan(f"node repair {NODE} --with nvidia-uvm")
    assert plan.title == f"Repair {NODE}: load the kernel module nvidia-uvm and make its device files"
    assert "as root on the node, in a privileged pod of namespace yardmaster-jobs" in plan.notes[0]
    assert "for at most 2 min" in plan.notes[0]
    assert plan.risk is Risk.TOUCH


@pytest.mark.parametrize("name", ["restart-containerd", "restart-kubelet"])
async def test_a_restart_needs_a_cordon_and_a_second_person(
    yard: Yard, kube: KubernetesLookalike, name: str
) -> None:
    assert f"needs {NODE} to be cordoned" in await yard.say(f"node repair {NODE} --with {name}")
    cordon(kube)
    assert (await yard.plan(f"node repair {NODE} --with {name}")).risk is Risk.BREAK


async def test_a_repair_of_the_settings_runs_with_its_image_and_a_second_person(yard: Yard) -> None:
    plan = await yard.plan(f"node repair {NODE} --with flush")
    assert plan.risk is Risk.BREAK
    (container,) = job_of(plan).manifest["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "own:1"
    assert container["command"][-3:] == ["/bin/sh", "-c", "echo flushed"]


async def test_an_unknown_repair_is_answered_with_those_there_are(yard: Yard) -> None:
    said = await yard.say(f"node repair {NODE} --with nvidia-uvw")
    assert "There is no repair nvidia-uvw. Did you mean nvidia-uvm" in said


async def test_without_an_image_the_setting_is_named(kube: KubernetesLookalike, tmp_path: Path) -> None:
    async with yard_before(kube.kubeconfig(tmp_path / "config")) as yard:
        said = await yard.say(f"node repair {NODE} --with nvidia-uvm")
    assert "The settings name no image for repair/nvidia-uvm: add node_jobs.image" in said


async def test_nodes_on_which_it_has_no_place_are_refused(yard: Yard, kube: KubernetesLookalike) -> None:
    kube.create(a_node_tree("cpu-1", gpus=0), keep_status=True)
    kube.create(a_node_tree("cp-1", labels={"node-role.kubernetes.io/control-plane": ""}), keep_status=True)
    silent = a_node_tree("gpu-a09")
    silent["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    kube.create(silent, keep_status=True)
    await yard.seen(lambda: len(yard.cluster.inventory().nodes) == 4)
    assert "has no NVIDIA GPUs" in await yard.say("node repair cpu-1 --with nvidia-uvm")
    assert "of the control plane" in await yard.say("node repair cp-1 --with nvidia-uvm")
    said = await yard.say("node repair gpu-a09 --with nvidia-uvm")
    assert "kubelet of gpu-a09 does not answer" in said
    assert "node reboot gpu-a09" in said


async def test_a_reset_needs_its_gpu_an_idle_node_and_agents_that_can_be_stopped(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    line = f"node repair {NODE} --with reset-gpu"
    assert "name it with --gpu INDEX" in await yard.say(line)
    assert "leave --gpu out" in await yard.say(f"node repair {NODE} --with nvidia-uvm --gpu 1")
    cordon(kube)
    a_pod(kube, "train", gpus=4)
    assert "these pods have some: default/train" in await yard.say(f"{line} --gpu 3")
    await end(yard, "train")
    a_pod(kube, "plugin-x", owner="nvidia-device-plugin-daemonset")
    said = await yard.say(f"{line} --gpu 3")
    assert "needs these pods to be stopped first" in said
    assert "default/plugin-x" in said


async def test_a_reset_stops_the_agents_first_and_starts_them_afterwards(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    cordon(kube)
    change(kube, {"metadata": {"labels": OPERATOR}})
    a_pod(kube, "plugin-x", owner="nvidia-device-plugin-daemonset")
    a_pod(kube, "exporter-x", owner="nvidia-dcgm-exporter")
    a_pod(kube, "calico-x", owner="calico-node")
    plan = await yard.plan(f"node repair {NODE} --with reset-gpu --gpu 3")
    stop, *waits, job, start = plan.steps
    assert isinstance(stop, Patch)
    assert isinstance(start, Patch)
    assert isinstance(job, NodeJob)
    labels = {"nvidia.com/gpu.deploy.device-plugin", "nvidia.com/gpu.deploy.dcgm-exporter"}
    assert set(stop.body["metadata"]["labels"]) == labels
    assert {one.ref.name for one in waits if isinstance(one, Wait)} == {"plugin-x", "exporter-x"}
    (container,) = job.manifest["spec"]["template"]["spec"]["containers"]
    assert {"name": "GPU_INDEX", "value": "3"} in container["env"]
    assert plan.risk is Risk.BREAK
    assert "3" not in " ".join(container["command"][:-1])


async def test_a_reset_that_fails_leaves_the_agents_stopped_and_an_undo_starts_them(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    cordon(kube)
    change(kube, {"metadata": {"labels": OPERATOR}})
    a_pod(kube, "plugin-x", owner="nvidia-device-plugin-daemonset")
    plan = await yard.confirmed(await yard.plan(f"node repair {NODE} --with reset-gpu --gpu 3"))
    await end(yard, "plugin-x")
    kube.fail(lambda seen: seen.method == "POST" and seen.path.endswith("/jobs"), 404)
    over = await yard.executor.execute(plan)
    assert over.state is PlanState.FAILED
    assert "there is no namespace yardmaster-jobs" in over.error
    label = "nvidia.com/gpu.deploy.device-plugin"
    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert node["metadata"]["labels"][label] == "false"
    await yard.do(f"plan undo {over.id}")
    node = kube.get("nodes", "", NODE)
    assert node is not None
    assert node["metadata"]["labels"][label] == "true"


SHELL = (
    "; reboot",
    "$(reboot)",
    "`reboot`",
    "| sh",
    "&& reboot",
    "\n reboot",
    "' reboot '",
    '" reboot "',
    "{{.}}",
    "$IFS",
)


def hostile(seed: int) -> str:
    random.seed(seed)
    parts = [
        random.choice(SHELL),
        "x" * random.randint(0, 60),
        random.choice(("\u202e", "\x1b[2J", "\x00", "<!channel>")),
    ]
    random.shuffle(parts)
    return "".join(parts)


async def test_no_word_of_a_line_reaches_a_command_line(yard: Yard) -> None:
    for seed in range(40):
        word = hostile(seed).replace("\n", " ").replace("\x00", "").replace('"', "'")
        await yard.say(f'node repair {NODE} --with "{word}"')
        await yard.say(f'node repair "{word}" --with nvidia-uvm')
        await yard.say(f'node repair {NODE} --with reset-gpu --gpu "{word}"')
        assert await yard.newest() is None, word


async def test_a_variable_of_a_script_is_a_word_or_a_number(yard: Yard) -> None:
    node = yard.cluster.inventory().nodes[NODE]
    context: Any = type("Context", (), {"defaults": POLICY})
    script = own_repairs()["reset-gpu"].script
    for seed in range(40):
        with pytest.raises(ValueError, match="is not a variable of a script"):
            job_step(script, node, context, description="d", env={"GPU_INDEX": hostile(seed)})


@pytest.mark.parametrize("seed", range(40))
def test_what_a_pod_says_is_shown_without_controls_and_secrets(seed: int) -> None:
    said = cleaned(f"{hostile(seed)}\npassword=hunter2hunter{seed:04}\n" + "y" * 9_000)
    assert "hunter2" not in said
    assert not any(ord(one) < 32 and one != "\n" for one in said)
    assert "\u202e" not in said
    assert max(map(len, said.splitlines())) <= MAX_LINE
    waiting = {"reason": "ErrImagePull", "message": hostile(seed)}
    pod = {"status": {"containerStatuses": [{"image": hostile(seed), "state": {"waiting": waiting}}]}}
    why = why_not_begun({"metadata": {}}, [pod], []).reason
    failed = {"type": "Failed", "status": "True", "message": hostile(seed)}
    end = job_end_of({"status": {"conditions": [failed]}}, [])
    assert end is not None
    for text in (why, end.reason):
        assert "\n" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_names_that_a_node_may_have_give_a_job_a_name() -> None:
    names = ["gpu-a01", "a" * 253, "ip-10-0-0-1.eu-west-1.compute.internal", "0", "a.b"]
    made = [job_name(name) for name in names]
    assert len(set(made)) == len(names)
    assert all(len(name) <= 63 and name.strip("-") == name for name in made)


def test_every_repair_ends_by_itself() -> None:
    for repair in own_repairs().values():
        assert timedelta() < repair.script.within <= timedelta(minutes=10)


async def test_a_repair_says_which_alerts_it_relieves(yard: Yard) -> None:
    plan = await yard.plan(f"node repair {NODE} --with nvidia-uvm")
    assert plan.relieves == ("NVIDIAUVMMissing",)
