"""Logs of all ranks, of errors only, of the last minutes, and followed for five minutes; `training show` as JSON."""

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from alerts.cards.posted import CardKind, PostedCard
from bot.jobs.log_follower import LogFollower
from collectors.facts.redaction import MARK, Redactor
from collectors.facts.results import SourceError
from commands.core.pod_lines import MAX_LOG, PodLog, TimedLine, api_lines
from commands.models import LogFollow
from commands.training.all_logs import errors_in, said_first
from commands.training.followed_log import FOLLOWED_FOR, MOST, followed_log
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.memory_store import MemoryStore
from tests.support.yard import ANA, NOON, Yard, text_of

LAUNCH = "training launch mnist --image registry.example/mnist:7 --workers 3 --gpus 4"


def said(*texts: str, after: int = 0) -> tuple[TimedLine, ...]:
    return tuple(
        TimedLine(at=NOON + timedelta(seconds=after + number), text=text) for number, text in enumerate(texts)
    )


@dataclass
class PodLogs:
    """Logs by the end of the pod's name, with the times before the lines that the API puts there."""

    texts: dict[str, str] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    gone: bool = False

    async def logs(self, namespace: str, pod: str, *, timestamps: bool = False, **more: Any) -> str:
        self.asked.append({"pod": pod, **more})
        if self.gone:
            raise SourceError("not found", status=404)
        text = next((text for name, text in self.texts.items() if pod.endswith(name)), "")
        if not timestamps:
            return text
        return "".join(
            f"2026-11-21T12:00:{n % 60:02}.5Z {line}\n" for n, line in enumerate(text.splitlines())
        )


def test_ranks_that_say_the_same_but_for_numbers_are_together_and_the_earliest_is_first() -> None:
    output = {f"worker-{n}": said(f"epoch 1 rank {n} loss 0.{n}", after=5 + n) for n in range(40)}
    output["worker-40"] = said("ValueError: no batch", after=1)
    output["worker-41"] = ()
    first, rest = said_first(output)
    assert (first.line.text, first.ranks) == ("ValueError: no batch", ("worker-40",))
    assert len(rest.ranks) == 40


def test_errors_of_others_are_left_out_where_the_rank_has_its_own() -> None:
    echo = "RuntimeError: Connection closed by peer [10.0.0.7]"
    both = said("step 1", echo, "ValueError: bad shape")
    assert [line.text for line in errors_in("worker-0", both, {})] == ["ValueError: bad shape"]
    assert [line.text for line in errors_in("worker-0", both[:2], {})] == [echo]


async def test_no_line_of_a_key_is_kept_whose_lines_have_times_before_them() -> None:
    key = [
        "-----BEGIN PRIVATE KEY-----",
        *["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj"] * 40,
        "-----END PRIVATE KEY-----",
    ]
    pods = PodLogs({"p": "\n".join(["begin", *key, "password=hunter2", "end"])})
    log = PodLog(namespace="vision", pod="p", tail=100)
    found = await api_lines(log, pods, redact=Redactor(), now=NOON)
    assert [line.text for line in found] == ["begin", MARK, f"password={MARK}", "end"]
    assert found[0].at < found[2].at


async def test_a_log_that_is_too_long_is_read_again_with_few_lines_as_the_api_cuts_off_the_last() -> None:
    pods = PodLogs({"p": "x" * MAX_LOG + "\nthe last"})
    log = PodLog(namespace="vision", pod="p", tail=100)
    await api_lines(log, pods, redact=Redactor(), now=NOON)
    assert [one["tail"] for one in pods.asked] == [100, 12]


async def _launched(yard: Yard, pods: PodLogs) -> None:
    await yard.do(LAUNCH, ANA)
    await yard.seen(lambda: any(len(view.ranks) == 3 for view in yard.cluster.trainings()))
    yard.cluster.pod_logs = pods  # type: ignore[assignment]


async def test_all_ranks_are_grouped_by_what_they_say_first(yard: Yard, kube: KubernetesLookalike) -> None:
    pods = PodLogs()
    await _launched(yard, pods)
    names = sorted(rank.pod for rank in yard.cluster.trainings()[0].ranks)
    pods.texts = {names[0]: "loading\nValueError: x\n", names[1]: "loading\n", names[2]: "loading\n"}
    reply = await yard.say("training logs mnist --all", ANA)
    assert "| 3 |" in reply
    assert "loading" in reply
    reply = await yard.say("training logs mnist --all --errors", ANA)
    assert "ValueError: x" in reply
    assert "2 ranks have no lines" in reply
    reply = await yard.say("training logs mnist --all --since 10m", ANA)
    assert pods.asked[-1]["since"] == timedelta(minutes=10)
    assert "--all cannot be combined with --rank, --previous or --follow" in await yard.say(
        "training logs mnist --all --follow", ANA
    )


async def test_a_rank_shows_only_its_errors(yard: Yard, kube: KubernetesLookalike) -> None:
    pods = PodLogs()
    await _launched(yard, pods)
    first = sorted(rank.pod for rank in yard.cluster.trainings()[0].ranks)[0]
    pods.texts = {first: "loading\nValueError: x\n"}
    reply = await yard.say("training logs mnist --rank 0 --errors", ANA)
    assert "ValueError: x" in reply
    assert "loading" not in reply


async def test_a_followed_log_is_one_card_that_ends_after_five_minutes(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    pods = PodLogs()
    await _launched(yard, pods)
    pods.texts = {"": "step 1\npassword=hunter2\n"}
    await yard.say("training logs mnist --rank 0 --follow", ANA)
    store = yard.store
    async with store.read() as snapshot:
        (follow,) = await snapshot.rows(LogFollow).find()
        (card,) = [one for one in await snapshot.rows(PostedCard).find() if one.kind is CardKind.LOG_FOLLOW]
    assert (card.channel, card.thread) == ("C_GPU", "1.1")
    follower = LogFollower(store, {yard.cluster.name: yard.cluster}, redact=Redactor())
    await follower.work.do(follow, NOON + timedelta(seconds=5))
    follow = await _follow(store)
    assert follow.lines == ("step 1", f"password={MARK}")
    assert follow.next_at == NOON + timedelta(seconds=10)
    pods.texts = {"": "step 2\n"}
    await follower.work.do(follow, NOON + FOLLOWED_FOR)
    follow = await _follow(store)
    assert follow.is_over
    assert follow.next_at is None
    assert "step 2" in text_of(followed_log(follow))
    assert "no longer followed" in text_of(followed_log(follow))


async def test_the_lines_that_were_read_stay_when_the_pod_is_gone(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    pods = PodLogs({"": "step 1\n"})
    await _launched(yard, pods)
    await yard.say("training logs mnist --rank 0 --follow", ANA)
    follower = LogFollower(yard.store, {yard.cluster.name: yard.cluster}, redact=Redactor())
    await follower.work.do(await _follow(yard.store), NOON + timedelta(seconds=5))
    pods.gone = True
    await follower.work.do(await _follow(yard.store), NOON + timedelta(seconds=10))
    follow = await _follow(yard.store)
    assert follow.is_over
    assert follow.lines == ("step 1",)


async def test_nobody_follows_more_than_a_few_logs_at_once(yard: Yard, kube: KubernetesLookalike) -> None:
    await _launched(yard, PodLogs({"": "step 1\n"}))
    for _ in range(MOST):
        await yard.say("training logs mnist --rank 0 --follow", ANA)
        yard.clock.move(timedelta(seconds=1))
    assert "You follow 5 logs already" in await yard.say("training logs mnist --rank 0 --follow", ANA)


async def _follow(store: MemoryStore) -> LogFollow:
    async with store.read() as snapshot:
        (found,) = await snapshot.rows(LogFollow).find()
    return found


async def test_show_is_the_same_as_json(yard: Yard, kube: KubernetesLookalike) -> None:
    await _launched(yard, PodLogs())
    answer = await yard.answer("training show mnist --json", ANA)
    assert answer is not None
    (file,) = answer.message.attachments
    tree = json.loads(file.content)
    assert (tree["name"], tree["state"], tree["ranks"]["wanted"]) == ("mnist/mnist", "starting", 3)
    assert tree["gpus"]["requested"] == 12
    assert tree["waiting"]["start"] is None
    assert tree["waiting"]["reasons"]
    shown = await yard.say("training show mnist", ANA)
    assert "starts: not known" in shown
    assert "[Why?] training why mnist/mnist" in shown
