"""Launches that are filled in: from a YAML file, whose mistakes are said with the line, and from a training before."""

from typing import Any

import pytest

from commands.core.command import UnusableError
from commands.core.request import Upload
from commands.execution.plan import Plan, PlanState
from commands.execution.steps import Create
from commands.training.launch_command import LAUNCH
from commands.training.spec_file import Allowed, read_spec
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, DANA, Yard

WHOLE = """\
# a training of two roles
kind: job
image: registry.example/vision/mnist:7
team: vision
max-duration: 4h
backoff: 2
node-selector: {pool: large}
not-on: [gpu-a09]
tolerations: [example.com/reserved]
env:
  EPOCHS: 90
  PRICE: "5$"
volumes:
  data: {at: /data, claim: images, read-only: true}
  scratch: {at: /scratch, size: 100Gi}
roles:
  worker:
    replicas: 2
    gpus: 8
    cpu: 4..8
    memory: 64Gi..96Gi
    command: [python, train.py, --lr=0.1]
  ps:
    replicas: 1
    cpu: 2
    image: registry.example/vision/ps:1
"""


def a_file(text: str, name: str = "train.yaml") -> tuple[Upload, ...]:
    return (Upload(name=name, content=text.encode()),)


def pod_of(plan: Plan, kind: str) -> Any:
    (made,) = [one.manifest for one in plan.steps if isinstance(one, Create) and one.ref.kind == kind]
    return made["spec"]["template"]["spec"]


async def test_a_file_says_all_that_the_line_does_not(yard: Yard, kube: KubernetesLookalike) -> None:
    plan = await yard.do("training launch mnist --spec", ANA, uploads=a_file(WHOLE))
    assert plan.state is PlanState.DONE, plan.error
    assert plan.is_fixed
    pod = pod_of(plan, "Job")
    (container,) = pod["containers"]
    assert (container["image"], container["command"]) == ("registry.example/vision/mnist:7", ["python"])
    assert container["args"] == ["train.py", "--lr=0.1"]
    assert container["resources"] == {
        "requests": {"nvidia.com/gpu": "8", "cpu": "4", "memory": "64Gi"},
        "limits": {"nvidia.com/gpu": "8", "cpu": "8", "memory": "96Gi"},
    }
    env = {one["name"]: one.get("value") for one in container["env"]}
    assert (env["EPOCHS"], env["PRICE"], env["WORKERS"]) == ("90", "5$", "2")
    assert pod["nodeSelector"] == {"pool": "large"}
    assert {one["key"] for one in pod["tolerations"]} == {"nvidia.com/gpu", "example.com/reserved"}
    claim = {"name": "data", "persistentVolumeClaim": {"claimName": "images", "readOnly": True}}
    assert claim in pod["volumes"]
    assert {"name": "scratch", "emptyDir": {"sizeLimit": "100Gi"}} in pod["volumes"]
    assert {"name": "data", "mountPath": "/data", "readOnly": True} in container["volumeMounts"]
    (server,) = pod_of(plan, "Deployment")["containers"]
    assert (server["image"], server["resources"]["requests"]) == (
        "registry.example/vision/ps:1",
        {"cpu": "2"},
    )
    job = kube.get("jobs", "mnist", "mnist-worker")
    assert job is not None
    assert (job["spec"]["backoffLimit"], job["spec"]["activeDeadlineSeconds"]) == (2, 14400)


async def test_what_the_line_says_counts_before_the_file(yard: Yard) -> None:
    line = "training launch mnist --spec --workers 1 --backoff 0 -- other.py"
    plan = await yard.plan(line, ANA, uploads=a_file(WHOLE))
    job = next(one.manifest for one in plan.steps if isinstance(one, Create) and one.ref.kind == "Job")
    assert (job["spec"]["parallelism"], job["spec"]["backoffLimit"]) == (1, 0)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["other.py"]
    assert "command" not in container


HEAD = "image: registry.example/vision/mnist:7\n"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}imgae: x", "train.yaml, line 2: imgae is not known here. Known: name, kind, image"),
        (f"{HEAD}image: y", "line 2: image is given twice"),
        (f"{HEAD}kind: caffejob", "line 2: --kind: caffejob is not one of job"),
        (f"{HEAD}name: other", "line 2: It is called mnist on the line"),
        (f"{HEAD}max-duration: soon", "line 2: "),
        (f"{HEAD}backoff: many", "line 2: --backoff must be a whole number, 0 to 100, and many is not"),
        (f"{HEAD}env: [A]", "line 2: env must consist of key: value lines"),
        (f"{HEAD}env:\n  1A: x", "line 3: 1A is not a name of a variable"),
        (f"{HEAD}env:\n  WORKER_HOSTS: evil:2222", "line 3: WORKER_HOSTS is set for each task"),
        (
            f"{HEAD}env:\n  A: {{valueFrom: {{secretKeyRef: {{name: s, key: k}}}}}}",
            "line 3: A must be a text or a number",
        ),
        (f"{HEAD}roles:\n  chief: {{replicas: 1}}", "line 3: chief is not known here. Known: worker, ps"),
        (f"{HEAD}roles:\n  ps: {{replicas: 1}}", "line 3: roles has no worker"),
        (f"{HEAD}roles:\n  worker:\n    cpu: 8..4", "line 4: cpu 8..4 has a limit below its request"),
        (f"{HEAD}roles:\n  worker:\n    cpu: a lot", "line 4: cpu a lot is not a quantity"),
        (f"{HEAD}roles:\n  worker:\n    privileged: true", "line 4: privileged is not known here"),
        (f"{HEAD}roles:\n  worker:\n    securityContext: {{}}", "line 4: securityContext is not known here"),
        (f"{HEAD}volumes:\n  root: {{hostPath: /, at: /host}}", "line 3: hostPath is not known here"),
        (f"{HEAD}volumes:\n  a: {{claim: x, at: /data/../etc}}", "line 3: /data/../etc is not a path"),
        (f"{HEAD}volumes:\n  a: {{size: 1Gi, at: /proc/x}}", "line 3: /proc/x is not a path"),
        (
            f"{HEAD}volumes:\n  a: {{claim: others/x, at: /data}}",
            "line 3: others/x is not a claim in the training's",
        ),
        (f"{HEAD}volumes:\n  a: {{secret: regcred, at: /data}}", "line 3: secret is not known here"),
        (
            f"{HEAD}volumes:\n  a: {{at: /data}}",
            "line 3: Volume a must have either a claim of its namespace or a size",
        ),
        (f"{HEAD}namespace: kube-system", "line 2: kube-system is a system namespace"),
        (f"{HEAD}serviceAccountName: admin", "line 2: serviceAccountName is not known here"),
        (f"{HEAD}hostNetwork: true", "line 2: hostNetwork is not known here"),
        (
            "team: vision\nimage: docker.io/evil/miner:1",
            "line 2: docker.io/evil/miner:1 is not among the allowed",
        ),
        (
            f"{HEAD}roles:\n  worker: {{image: docker.io/evil/miner:1}}",
            "line 3: docker.io/evil/miner:1 is not among",
        ),
        ("image: 'a; rm -rf /'", "line 1: a; rm -rf / is not a valid image name"),
        (f"{HEAD}node-selector: {{a: {{b: c}}}}", "line 2: a must be a text or a number"),
        (f"{HEAD}<<: {{image: x}}", "line 2: A key must be a word"),
        (f"{HEAD}team: !!python/object/apply:os.system [id]", "line 2: team must be a text or a number"),
        (f"{HEAD}--- \nimage: x", "line 1: It has 2 documents, and must have one"),
        ("image: [", "line 2: not YAML"),
        ("", "line 1: It has 0 documents"),
        (BOMB, "aliases expand to more than"),
        ("a: &a [*a]", "line 1: anchor 'a' contains itself"),
        ("[" * 70 + "]" * 70, "nested deeper than 60"),
        (f"{HEAD}env: {{A: {'x' * (65 << 10)}}}", "line 1: It is larger than 64 KiB"),
        (f"{HEAD}not-on: [{', '.join(['n'] * 3000)}]", "line 1: It has more than 2000 values"),
        ("team: vision", "--image is missing"),
    ],
)
async def test_what_is_wrong_or_not_allowed_is_said_with_its_line(yard: Yard, text: str, said: str) -> None:
    reply = await yard.say("training launch mnist --spec", ANA, uploads=a_file(text))
    assert said in reply
    assert await yard.newest() is None


def test_a_queue_of_others_is_refused_with_its_line() -> None:
    allowed = Allowed(images=("*",), queues={"speech": ("speech",)}, teams=("vision",))
    (file,) = a_file(f"{HEAD}queue: speech")
    with pytest.raises(UnusableError, match=r"train.yaml, line 2: Queue `speech` is only for speech"):
        read_spec(file, "mnist", allowed, LAUNCH.parameters)


@pytest.mark.parametrize("files", [(), a_file("a", "run.sh"), (*a_file(HEAD), *a_file(HEAD, "b.yml"))])
async def test_it_takes_exactly_one_file(yard: Yard, files: tuple[Upload, ...]) -> None:
    reply = await yard.say("training launch mnist --spec", ANA, uploads=files)
    assert "--spec takes one file that ends with .yaml, .yml" in reply


async def test_a_script_may_come_with_the_file(yard: Yard, kube: KubernetesLookalike) -> None:
    files = (*a_file(HEAD), *a_file("echo hi\n", "run.sh"))
    await yard.do("training launch mnist --spec --gpus 1", ANA, uploads=files)
    assert kube.get("configmaps", "mnist", "training-script") is not None


async def test_what_the_kind_cannot_express_is_refused_by_its_name(yard: Yard) -> None:
    reply = await yard.say("training launch mnist --spec", ANA, uploads=a_file(f"{HEAD}runtime: torch\n"))
    assert "--runtime is not for Jobs" in reply


FIRST = "training launch first --image registry.example/vision/mnist:7 --workers 2 --gpus 4 --memory 8Gi"


async def test_one_is_launched_like_another_but_for_what_the_line_says(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    script = Upload(name="run.sh", content=b"echo hi\n")
    await yard.do(f"{FIRST} --node-selector pool=large -- --epochs 9", ANA, uploads=(script,))
    await yard.do("training launch second --like first --gpus 2", ANA)
    job, config = (
        kube.get("jobs", "second", "second-worker"),
        kube.get("configmaps", "second", "training-script"),
    )
    assert job is not None
    assert config is not None
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert (job["spec"]["parallelism"], spec["nodeSelector"]) == (2, {"pool": "large"})
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2", "memory": "8Gi"}
    assert container["args"] == ["--epochs", "9"]
    assert config["data"] == {"run.sh": "echo hi\n"}


async def test_what_was_not_launched_here_cannot_be_launched_like_it(yard: Yard) -> None:
    assert "nobody was not launched here" in await yard.say("training launch x --like nobody", DANA)


async def test_without_an_image_the_form_is_opened_as_ever(yard: Yard) -> None:
    answer = await yard.answer("training launch x", ANA)
    assert answer is not None
    assert answer.form is not None


async def test_one_is_launched_like_another_that_was_launched_like_a_third(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await yard.do(f"{FIRST} --backoff 3", ANA)
    await yard.do("training stop first", ANA)
    await yard.do("training launch second --like first --gpus 1", ANA)
    await yard.do("training launch third --like second --workers 3", ANA)
    job = kube.get("jobs", "third", "third-worker")
    assert job is not None
    assert (job["spec"]["parallelism"], job["spec"]["backoffLimit"]) == (3, 3)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "1"


async def test_what_a_file_launched_is_launched_with_that_file_again(yard: Yard) -> None:
    await yard.do("training launch first --spec --gpus 1", ANA, uploads=a_file(HEAD))
    reply = await yard.say("training launch second --like first", ANA)
    assert "first was launched with a file: launch it with that file again" in reply
