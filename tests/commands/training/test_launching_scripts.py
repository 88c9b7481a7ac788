"""Scripts that are uploaded with a launch: stored and run, or refused."""

import pytest

from commands.core.request import Upload
from commands.execution.plan import PlanState
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, Yard

IMAGE = "registry.example/vision/mnist:7"


async def test_an_uploaded_script_is_stored_and_run(yard: Yard, kube: KubernetesLookalike) -> None:
    script = Upload(name="run.sh", content="#!/bin/bash\necho 你好 $1\n".encode())
    plan = await yard.do(f"training launch up --image {IMAGE} --gpus 1 -- world", ANA, uploads=(script,))
    assert plan.state is PlanState.DONE, plan.error
    assert plan.is_fixed
    config = kube.get("configmaps", "up", "training-script")
    assert config is not None
    assert config["data"] == {"run.sh": "#!/bin/bash\necho 你好 $1\n"}
    job = kube.get("jobs", "up", "up-worker")
    assert job is not None
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert (container["command"], container["args"]) == (["bash", "/yardmaster/script/run.sh"], ["world"])


@pytest.mark.parametrize(
    ("uploads", "flags", "error"),
    [
        pytest.param([b"\x7fELF\xff\xfe"], "", "not UTF-8 text", id="a program"),
        pytest.param([b"echo \x00"], "", "null characters", id="null characters"),
        pytest.param([b" \n"], "", "empty", id="nothing"),
        pytest.param([b"x" * (600 << 10)], "", "the limit is", id="too large"),
        pytest.param([b"a", b"b"], "", "only one script", id="two files"),
        pytest.param([b"a"], "--script /opt/train.sh", "use only one", id="a file and a path"),
    ],
)
async def test_an_invalid_script_is_refused(yard: Yard, uploads: list[bytes], flags: str, error: str) -> None:
    files = tuple(Upload(name=f"run{number}.sh", content=one) for number, one in enumerate(uploads))
    reply = await yard.say(f"training launch up --image {IMAGE} {flags}", ANA, uploads=files)
    assert error in reply
