"""Messages about trainings: list, details, logs and the card of a launch."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from collectors.facts.labels import Labels
from collectors.facts.results import LinePage, LogLine, SourceError
from collectors.facts.sentences import Sentence, sentence
from collectors.trainings.training import Rank, Training, TrainingState
from commands.training.details import training_table
from commands.training.launch_card import launch_card
from commands.training.logs import find_rank
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.rows import a_launch
from tests.support.trainings import a_training
from tests.support.yard import ANA, BO, NOON, Yard, text_of

LAUNCH = "training launch mnist --image registry.example/mnist:7 --workers 2 --gpus 4 --ps 1"


async def failed(yard: Yard, kube: KubernetesLookalike) -> str:
    """A launched training whose worker 1 was killed for its memory; returns the name of that pod."""
    await yard.do(LAUNCH, ANA)
    await yard.seen(lambda: any(len(view.ranks) == 3 for view in yard.cluster.trainings()))
    pod = next(
        rank.pod for rank in yard.cluster.trainings()[0].ranks if (rank.role, rank.index) == ("worker", 1)
    )
    ended = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-21T12:00:00Z"}
    status = {
        "phase": "Failed",
        "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": ended}}],
    }
    kube.patch("pods", "mnist", pod, {"status": status}, status=True)
    await yard.seen(lambda: yard.cluster.trainings()[0].first_failure is not None)
    return pod


async def test_the_list_has_a_row_per_training_and_hides_ended_ones(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await yard.do(LAUNCH, ANA)
    await yard.seen(lambda: any(len(view.ranks) == 3 for view in yard.cluster.trainings()))
    reply = await yard.say("training list --team vision", BO)
    assert "1 training with 8 GPUs" in reply
    assert "mnist/mnist | starting | 8 | 0/3 | ana" in reply
    assert "Team speech has no trainings. Teams with trainings: vision." in await yard.say(
        "training list --team speech", BO
    )
    done = [{"type": "Complete", "status": "True", "reason": "CompletionsReached"}]
    kube.patch("jobs", "mnist", "mnist-worker", {"status": {"conditions": done}}, status=True)
    await yard.seen(lambda: yard.cluster.trainings()[0].state is TrainingState.SUCCEEDED)
    assert "1 more ended" in await yard.say("training list", BO)
    assert "mnist/mnist | succeeded" in await yard.say("training list --all", BO)


async def test_the_details_explain_the_first_failure(yard: Yard, kube: KubernetesLookalike) -> None:
    await failed(yard, kube)
    reply = await yard.say("training show mnist", ANA)
    assert "First failure: worker 1 on gpu-a0" in reply
    assert "exit code 137, OOMKilled: it used more memory than its limit and was killed" in reply
    assert "[Logs] training logs mnist/mnist" in reply
    assert "training stop mnist/mnist" in reply
    assert "training stop" not in await yard.say("training show mnist", replace(ANA, teams=frozenset({"x"})))


@dataclass
class LogStore:
    """A log store with lines of any pod, or an error."""

    texts: Sequence[str] = ()
    error: str = ""
    queried: list[Mapping[str, Any]] = field(default_factory=list)

    async def lines(
        self, *, where: Mapping[str, Any], at: datetime, since: datetime | None = None, tail: int = 100
    ) -> Sequence[LogLine]:
        self.queried.append(where)
        if self.error:
            raise SourceError(self.error)
        return [LogLine(at=NOON, text=text, labels=Labels()) for text in self.texts][-tail:]

    async def page(
        self, *, where: Mapping[str, Any], since: datetime, until: datetime, size: int = 200, after: str = ""
    ) -> LinePage:
        raise NotImplementedError("the command shows the newest lines only")


@dataclass
class Pods:
    """The Kubernetes API's logs: a text, or an error with a status."""

    text: str = ""
    status: int = 0

    async def logs(self, namespace: str, pod: str, **more: Any) -> str:
        if self.status:
            raise SourceError(f"the server answered {self.status}", status=self.status)
        return self.text


@pytest.mark.parametrize(
    ("pods", "stored", "words"),
    [
        pytest.param(Pods("one\ntwo"), None, ["one", "two", "from the Kubernetes API"], id="from the API"),
        pytest.param(Pods("token=abc12345"), None, ["token=[redacted]"], id="secrets are redacted"),
        pytest.param(
            Pods(status=404),
            LogStore(["CUDA error"]),
            ["12:00:00 CUDA error", "the pod is gone"],
            id="pod gone",
        ),
        pytest.param(
            Pods(status=502),
            LogStore(["x"]),
            ["because the server answered 502"],
            id="no answer from the kubelet",
        ),
        pytest.param(
            Pods(status=404), None, ["the pod is gone, and the settings name no log store"], id="nothing"
        ),
        pytest.param(Pods(status=404), LogStore(), ["the log store has no lines of it"], id="no lines"),
        pytest.param(
            Pods(status=404), LogStore(error="it is down"), ["the log store: it is down"], id="both down"
        ),
    ],
)
async def test_logs_come_from_the_source_that_has_them(
    yard: Yard, kube: KubernetesLookalike, pods: Pods, stored: LogStore | None, words: list[str]
) -> None:
    pod = await failed(yard, kube)
    yard.cluster.pod_logs = pods  # type: ignore[assignment]
    yard.cluster.logs = stored
    reply = await yard.say("training logs mnist", ANA)
    assert pod in reply
    for word in words:
        assert word in reply
    if stored is not None:
        assert stored.queried == [{"namespace": "mnist", "pod": pod}]


async def test_long_logs_are_attached_as_a_file(yard: Yard, kube: KubernetesLookalike) -> None:
    await failed(yard, kube)
    yard.cluster.pod_logs = Pods("\n".join(f"step {number}" for number in range(100)))  # type: ignore[assignment]
    answer = await yard.answer("training logs mnist --rank ps-0", ANA)
    assert answer is not None
    (file,) = answer.message.attachments
    assert file.name == "mnist-ps-0.log"
    assert file.content.startswith("step 0\n")
    assert "the last 40 of 100 lines" in text_of(answer.message)


@pytest.mark.parametrize("rank", ["9", "chief-0", "$(rm)", "-1", "²"])
async def test_an_unknown_rank_is_refused(yard: Yard, kube: KubernetesLookalike, rank: str) -> None:
    await failed(yard, kube)
    reply = await yard.say(f"training logs mnist '--rank={rank}'", ANA)
    assert f"mnist/mnist has no rank {rank}. There are ps-0, worker-0, worker-1" in reply


async def test_logs_of_the_look_alike_are_shown(yard: Yard, kube: KubernetesLookalike) -> None:
    """Without a log source the look-alike answers like a kubelet that does not have the container."""
    await failed(yard, kube)
    async with asyncio.timeout(10):
        reply = await yard.say("training logs mnist", ANA)
    assert "the log of mnist-worker-1" in reply or "There is no log of mnist-worker-1" in reply


async def test_a_rank_that_never_restarted_has_no_log_of_a_run_before(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    await failed(yard, kube)
    yard.cluster.pod_logs = Pods("of this run")  # type: ignore[assignment]
    reply = await yard.say("training logs mnist --previous", ANA)
    assert "has not restarted, so there is no log of an earlier run." in reply
    assert "of this run" not in reply


ROW = a_launch(NOON, id="prod-a/m/m", training="m/m", by="U_ANA", channel="C")
VIEW = a_training(
    "m",
    "m",
    TrainingState.RUNNING,
    wanted=2,
    gpus_wanted=16,
    started=NOON - timedelta(minutes=5),
    ranks=tuple(
        Rank(role="worker", index=index, pod=f"m-{index}", node=f"gpu-{index}", phase="Running", gpus=8)
        for index in (0, 1)
    ),
)


@pytest.mark.parametrize(
    ("training", "lines", "words"),
    [
        pytest.param(None, [], ["m/m: is not visible yet", "launched by ana"], id="not visible yet"),
        pytest.param(
            replace(VIEW, state=TrainingState.QUEUED, reason="0 of 2 ranks run", ranks=(), started=None),
            [],
            ["m/m: queued", "Reason: 0 of 2 ranks run", "GPUs: 16 requested, none held"],
            id="queued, with the reason",
        ),
        pytest.param(
            VIEW,
            [],
            ["m/m: running", "nodes: gpu-0, gpu-1", "GPUs: 16\n", "since: 2026-11-21 11:55 UTC"],
            id="running",
        ),
        pytest.param(
            replace(
                VIEW,
                state=TrainingState.FAILED,
                reason="BackoffLimitExceeded",
                failures=(Rank(role="worker", index=1, pod="m-1", node="gpu-1", exit_code=134),),
            ),
            ["NCCL watchdog", "Aborted"],
            ["m/m: failed", "First failure: worker 1 on gpu-1: exit code 134", "NCCL watchdog", "Delete"],
            id="failed, with the first task's last lines",
        ),
        pytest.param(
            replace(VIEW, state=TrainingState.SUCCEEDED),
            [],
            ["✓ m/m: succeeded", "Delete"],
            id="succeeded",
        ),
    ],
)
def test_the_card_of_a_launch_shows_its_state(
    training: Training | None, lines: list[str], words: list[str]
) -> None:
    reply = text_of(launch_card(ROW, training, last_lines=lines))
    for word in words:
        assert word in reply


def test_the_card_of_a_training_that_is_gone_shows_its_last_state() -> None:
    assert "is gone; it was running when last seen" in text_of(
        launch_card(replace(ROW, reported_state="running"), None)
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("1", ("main-workers", 1)),
        ("main-workers-1", ("main-workers", 1)),
        ("main-workers 1", ("main-workers", 1)),
        ("driver0", ("driver", 0)),
    ],
)
def test_a_role_may_have_dashes_in_its_name(given: str, found: tuple[str, int]) -> None:
    """Roles of a JobSet are named by whoever wrote it."""
    ranks = [
        Rank(role=role, index=index, pod="p")
        for role, index in (("main-workers", 0), ("main-workers", 1), ("driver", 0))
    ]
    rank = find_rank(replace(VIEW, ranks=tuple(ranks), failures=()), given)
    assert (rank.role, rank.index) == found


def test_why_a_training_waits_can_be_translated_in_the_list() -> None:
    reason = sentence("{count} nodes are cordoned", count=3)
    training = a_training("vision", "detr", TrainingState.QUEUED, reason=reason)

    ((*_, shown, _, _),) = training_table([training], NOON).rows

    assert isinstance(shown, Sentence)
    assert (shown, shown.template) == ("3 nodes are cordoned", "{count} nodes are cordoned")
