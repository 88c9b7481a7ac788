"""The launch of a training from the command line to its pods, on the Kubernetes look-alike."""

from typing import Any

import pytest

from commands.execution.plan import PlanState
from commands.execution.steps import Create
from commands.models import Launch
from commands.training.fit import with_option
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.commands.training.conftest import SECRET
from tests.support.yard import ANA, BO, DANA, Yard

IMAGE = "registry.example/vision/mnist:7"
LINE = f"training launch mnist --image {IMAGE} --workers 2 --gpus 8 --ps 1 --cpu 4 --memory 64Gi"


def owned(kube: KubernetesLookalike, kind: str, namespace: str = "mnist") -> list[dict[str, Any]]:
    return list(kube.list(kind, namespace))


async def test_a_launch_creates_all_objects_and_resumes_the_workers(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    plan = await yard.do(f"{LINE} --max-duration 4h -- --epochs 90", ANA)
    assert plan.state is PlanState.DONE, plan.error
    assert [type(step).__name__ for step in plan.steps[-3:]] == ["Create", "Patch", "Record"]
    space = kube.get("namespaces", "", "mnist")
    assert space is not None
    assert space["metadata"]["labels"]["yardmaster.io/training"] == "mnist"
    assert space["metadata"]["annotations"] == {
        "yardmaster.io/owner": "ana",
        "yardmaster.io/team": "vision",
        "yardmaster.io/launched-by": "U_ANA",
        "yardmaster.io/plan": plan.id,
    }
    secret = kube.get("secrets", "mnist", "regcred")
    assert secret is not None
    assert secret["type"] == "kubernetes.io/dockerconfigjson"
    assert secret["data"] == {".dockerconfigjson": SECRET}
    assert {one["metadata"]["name"] for one in owned(kube, "services")} == {"mnist-worker", "mnist-ps"}
    job = kube.get("jobs", "mnist", "mnist-worker")
    assert job is not None
    spec = job["spec"]
    assert (spec["suspend"], spec["completionMode"], spec["backoffLimit"]) == (False, "Indexed", 0)
    assert (spec["parallelism"], spec["completions"], spec["activeDeadlineSeconds"]) == (2, 2, 14400)
    container = spec["template"]["spec"]["containers"][0]
    assert container["args"] == ["--epochs", "90"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8", "memory": "64Gi"}
    env = {one["name"]: one.get("value") for one in container["env"]}
    assert env["WORKER_HOSTS"] == "mnist-worker-0.mnist-worker:2222,mnist-worker-1.mnist-worker:2222"
    assert env["PS_HOSTS"] == "mnist-ps-0.mnist-ps:2222"
    assert kube.get("deployments", "mnist", "mnist-ps-0")["spec"]["strategy"]["type"] == "Recreate"  # type: ignore[index]


async def test_a_launched_training_is_read_back_with_its_owner(yard: Yard) -> None:
    await yard.do(LINE, ANA)
    await yard.seen(lambda: any(view.shown == "mnist/mnist" for view in yard.cluster.trainings()))
    await yard.seen(lambda: sum(bool(rank.node) for rank in yard.cluster.trainings()[0].ranks) == 3)
    (view,) = yard.cluster.trainings()
    assert (view.owner, view.team, view.wanted, view.gpus_wanted) == ("ana", "vision", 3, 16)
    assert {(rank.role, rank.index) for rank in view.ranks} == {("worker", 0), ("worker", 1), ("ps", 0)}
    listed = await yard.say("training list", BO)
    assert "mnist/mnist" in listed
    async with yard.store.unit() as unit:
        launch = await unit.rows(Launch).get("prod-a/mnist/Namespace/mnist")
    assert launch is not None
    assert (launch.by, launch.channel, launch.thread, launch.state) == ("U_ANA", "C_GPU", "1.1", "live")


async def test_every_object_has_its_owner_in_its_labels(yard: Yard, kube: KubernetesLookalike) -> None:
    await yard.do(LINE, ANA)
    made = [one for kind in ("services", "jobs", "deployments", "secrets") for one in owned(kube, kind)]
    assert len(made) == 5
    for one in [*made, kube.get("namespaces", "", "mnist")]:
        labels = one["metadata"]["labels"]  # type: ignore[index]
        assert labels["app.kubernetes.io/managed-by"] == "yardmaster"
        assert (labels["yardmaster.io/training"], labels["team"], labels["owner"]) == (
            "mnist",
            "vision",
            "ana",
        )


async def test_plan_preview_and_journal_do_not_contain_the_secret(yard: Yard) -> None:
    shown = await yard.say(LINE, ANA)
    plan = await yard.newest()
    assert plan is not None
    assert SECRET not in shown
    assert SECRET not in repr(plan)
    done = await yard.executor.execute(await yard.confirmed(plan, ANA))
    assert done.state is PlanState.DONE
    assert SECRET not in repr(done)


async def test_a_launch_that_does_not_fit_is_refused_with_suggestions(yard: Yard) -> None:
    reply = await yard.say(f"training launch big --image {IMAGE} --workers 3 --gpus 8", ANA)
    assert reply.startswith(
        "big/big does not fit now: there is room for 2 of 3 workers (8 nvidia.com/gpu each)."
    )
    assert "• with 2 workers it would fit" in reply
    launch = f"training launch big --image {IMAGE}"
    assert f"[Launch with 2] {launch} --gpus 8 --workers 2\n" in reply
    assert reply.endswith(f"[Queue it] {launch} --workers 3 --gpus 8 --wait")
    assert await yard.newest() is None


async def test_a_launch_that_waits_says_what_its_first_ranks_hold(yard: Yard) -> None:
    line = f"training launch big --image {IMAGE} --workers 3 --gpus 8 --wait"
    said = await yard.say(line, ANA)
    assert "It does not fit now: there is room for 2 of 3 workers" in said
    assert "Tasks that fit hold their resources while the others wait." in said


async def test_a_preview_speaks_of_no_thread(yard: Yard) -> None:
    """It is shown to one person, in no thread."""
    said = await yard.say(LINE, ANA)
    assert "report how the training goes" in said
    assert "thread" not in said


async def test_people_who_may_ask_for_idle_gpus_get_the_button(yard: Yard) -> None:
    line = f"training launch big --image {IMAGE} --workers 3 --gpus 8"
    assert "[Ask for idle GPUs] gpu free\n" in await yard.say(line, DANA)
    assert "[Idle GPUs] gpu idle\n" in await yard.say(line, ANA)


async def test_a_cordon_is_never_proposed_to_be_lifted_where_something_speaks_against_it(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    line = f"training launch big --image {IMAGE} --workers 2 --gpus 8"
    for reason, is_proposed in (("short test", True), ("GPU fell off the bus", False)):
        plan = await yard.do(f'node cordon gpu-a02 --reason "{reason}"', DANA)
        await yard.seen(lambda: bool(yard.cluster.inventory().nodes["gpu-a02"].spec.unschedulable))
        reply = await yard.say(line, ANA)
        assert f"• cordoned: gpu-a02 ({reason}, dana)" in reply
        assert ("node uncordon gpu-a02 would be enough" in reply) == is_proposed
        await yard.do(f"plan undo {plan.id}", DANA)
        await yard.seen(lambda: not yard.cluster.inventory().nodes["gpu-a02"].spec.unschedulable)


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("training launch m --workers 40 --gpus 8", "training launch m --gpus 8 --workers 3"),
        ("training launch m --workers=40 -- --workers 9", "training launch m --workers 3 -- --workers 9"),
        ("training launch m --image 'a b'", "training launch m --image 'a b' --workers 3"),
    ],
)
def test_a_changed_line_has_the_option_once(line: str, changed: str) -> None:
    assert with_option(line, "--workers", "3") == changed


def _with(options: str) -> str:
    return f"training launch m --image {IMAGE} {options}"


async def test_a_launch_that_does_not_fit_may_wait(yard: Yard) -> None:
    plan = await yard.plan(f"training launch big --image {IMAGE} --workers 3 --gpus 8 --wait", ANA)
    assert any("does not fit now" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        pytest.param(
            f"training launch Mnist --image {IMAGE}", "lower-case letters", id="capitals in the name"
        ),
        pytest.param(f"training launch {'m' * 41} --image {IMAGE}", "at most 40", id="name too long"),
        pytest.param(
            f"training launch 'a;rm -rf /' --image {IMAGE}", "lower-case letters", id="a shell in the name"
        ),
        pytest.param(f"training launch 训练 --image {IMAGE}", "lower-case letters", id="a name in Chinese"),
        pytest.param(
            "training launch m --image elsewhere.example/x",
            "not among the allowed images",
            id="image not allowed",
        ),
        pytest.param(
            "training launch m --image '$(id)'", "not a valid image name", id="a shell in the image"
        ),
        pytest.param("training launch m --image ../../x", "not a valid image name", id="a path as the image"),
        pytest.param(_with("--workers 0"), "--workers 0", id="no workers"),
        pytest.param(_with("--workers 1001"), "1 to 1000", id="too many workers"),
        pytest.param(_with("--gpus nan"), "must be a number, 0 or more", id="GPUs that are not a number"),
        pytest.param(_with("--gpus 0.5"), "multiple of 1", id="half of a whole GPU"),
        pytest.param(_with("--gpu-resource cpu"), "not a known GPU resource", id="not a GPU resource"),
        pytest.param(_with("--memory inf"), "not a quantity", id="infinite memory"),
        pytest.param(_with("--memory 64G1B"), "not a quantity", id="an invalid quantity"),
        pytest.param(_with("--node-selector pool"), "pool=large", id="half a selector"),
        pytest.param(_with("--namespace kube-x"), "a system namespace", id="a system namespace"),
        pytest.param(
            _with("--namespace platform"), "was not created for this training", id="taken namespace"
        ),
        pytest.param(_with("extra words"), "one word too many", id="words without --"),
        pytest.param("training launch m", "needs more: --image", id="without an image"),
        pytest.param(
            f"training launch --image {IMAGE} -- train",
            "needs more: NAME",
            id="a word after -- is not a name",
        ),
    ],
)
async def test_an_invalid_line_is_refused_with_the_reason(yard: Yard, line: str, error: str) -> None:
    assert error in await yard.say(line, ANA)
    assert await yard.newest() is None


async def test_the_same_training_is_not_launched_twice(yard: Yard) -> None:
    await yard.do(LINE, ANA)
    await yard.seen(lambda: bool(yard.cluster.trainings()))
    reply = await yard.say(LINE, ANA)
    assert "already exists" in reply
    assert "training show mnist/mnist" in reply


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["$(rm -rf /)", "; reboot", "`id`"], id="shell"),
        pytest.param(['say "hi"', "it's", "a b\tc"], id="quotes and blanks"),
        pytest.param(["--image", "evil.example/x", "--namespace=kube-system"], id="our own options"),
        pytest.param(["--cluster", "other", "--", "-x"], id="the cluster option and another --"),
        pytest.param(["中文参数", "🚀", "x" * 2000], id="any script, and long"),
    ],
)
async def test_arguments_are_data(yard: Yard, kube: KubernetesLookalike, words: list[str]) -> None:
    quoted = " ".join("'" + word.replace("'", "'\"'\"'") + "'" for word in words)
    plan = await yard.do(f"training launch data --image {IMAGE} --gpus 0 -- {quoted}", ANA)
    assert plan.state is PlanState.DONE, plan.error
    job = kube.get("jobs", "data", "data-worker")
    assert job is not None
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == words


async def test_a_doubled_dollar_survives_kubernetes_own_expansion(yard: Yard) -> None:
    plan = await yard.plan(f"training launch data --image {IMAGE} --gpus 0 -- '$$HOME' '$(TASK_INDEX)'", ANA)
    job = next(step for step in plan.steps if isinstance(step, Create) and step.ref.kind == "Job")
    container = job.manifest["spec"]["template"]["spec"]["containers"][0]
    assert container["args"] == ["$$$$HOME", "$(TASK_INDEX)"]


async def test_a_service_per_task_gives_short_host_names(yard: Yard, kube: KubernetesLookalike) -> None:
    await yard.do(f"{LINE} --service-per-task", ANA)
    assert {one["metadata"]["name"] for one in owned(kube, "services")} == {
        "mnist-worker",
        "mnist-ps",
        "mnist-worker-0",
        "mnist-worker-1",
        "mnist-ps-0",
    }
    job = kube.get("jobs", "mnist", "mnist-worker")
    assert job is not None
    env = {one["name"]: one.get("value") for one in job["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["WORKER_HOSTS"] == "mnist-worker-0:2222,mnist-worker-1:2222"


async def test_a_launch_outside_the_granted_namespaces_is_refused(yard: Yard) -> None:
    assert "not in namespace mnist" in await yard.say(LINE, BO)
    plan = await yard.plan(f"training launch speech-x --image {IMAGE}", BO)
    assert plan.title == "Launch speech-x/speech-x: 1 worker, 1 nvidia.com/gpu"
