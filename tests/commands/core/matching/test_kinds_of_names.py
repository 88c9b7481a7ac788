"""Every kind of name is recognised in a line, whichever command takes it; verbs and questions are single words."""

import shlex

import click
import pytest

from commands.command_catalogue import CATALOGUE, LEXICON
from commands.core.command import AnyCommand
from commands.core.matching.interpretation import Fill, Interpretation, Offer, Run, interpret
from commands.core.matching.known_names import KnownNames
from commands.core.matching.references import NO_THREAD, ThreadNames
from commands.core.matching.tokens import stem_of
from commands.core.parameter_types import NameKind, kinds_of
from commands.core.parsing import words_of

NAMES = KnownNames(
    {
        NameKind.NODE: ["gpu-a01", "gpu-a02"],
        NameKind.TRAINING: ["vision/detr"],
        NameKind.VOLUME: ["data/imagenet"],
        NameKind.POD: ["serving/web-7d4f9"],
        NameKind.RACK: ["rack-a"],
        NameKind.TEAM: ["speech"],
        NameKind.ALERT: ["GPUIdle"],
        NameKind.RUNBOOK: ["gpu-idle"],
        NameKind.PERSON: ["dana", "bo"],
        NameKind.AGENT: ["gpu-operator/device-plugin"],
        NameKind.NAMESPACE: ["serving", "data"],
        NameKind.CLUSTER: ["prod-a", "prod-b"],
    },
    me="U_ANA",
)
SAID = {
    NameKind.NODE: "gpu-a01", NameKind.TRAINING: "detr", NameKind.VOLUME: "imagenet", NameKind.POD: "web-7d4f9",
    NameKind.ALERT: "GPUIdle", NameKind.RUNBOOK: "gpu-idle", NameKind.INCIDENT: "i3", NameKind.PLAN: "p5",
    NameKind.SILENCE: "s3", NameKind.REQUEST: "c3f9a1b2d", NameKind.BREAKER: "b2", NameKind.PERSON: "bo",
    NameKind.AGENT: "device-plugin", NameKind.GPU: "gpu 3", NameKind.RACK: "rack-a", NameKind.TEAM: "speech",
    NameKind.REPAIR: "clear-images", NameKind.NAMESPACE: "namespace serving", NameKind.RANK: "rank 3",
    NameKind.TAINT: "gpu=broken:NoSchedule",
}  # fmt: skip
THREAD: ThreadNames = {
    NameKind.INCIDENT: "i3",
    NameKind.NODE: "gpu-a02",
    NameKind.TRAINING: "vision/detr",
    NameKind.PLAN: "p5",
}
TAKING = [
    one
    for one in CATALOGUE
    if one.verb and any(isinstance(part, click.Argument) and kinds_of(part) for part in one.parameters)
]


def understood(line: str, thread: ThreadNames = NO_THREAD) -> Interpretation:
    return interpret(words_of(line), LEXICON, lambda: NAMES, thread)


def lines_of(meaning: Interpretation) -> list[str]:
    lines = meaning.lines if isinstance(meaning, Offer) else (meaning.words,)
    return [shlex.join(words) for words in lines]


def test_every_kind_of_a_parameter_has_a_name_here() -> None:
    kinds = {kind for one in CATALOGUE for part in one.parameters for kind in kinds_of(part)}
    assert kinds <= set(SAID)


@pytest.mark.parametrize(
    "form", ["please {verb} the {noun} {names}", "{names} {noun} {verb} 一下", "{names}: {verb} {noun} pls"]
)
@pytest.mark.parametrize("command", TAKING, ids=lambda one: one.name)
def test_the_names_of_arguments_are_recognised_in_any_order(command: AnyCommand, form: str) -> None:
    kinds = [
        next(kind for kind in kinds_of(part) if kind in SAID)
        for part in command.parameters
        if isinstance(part, click.Argument) and kinds_of(part)
    ]
    names = " ".join(SAID[kind] for kind in kinds)
    line = form.format(verb=command.verb, noun=command.noun, names=names)
    meaning = understood(line)
    meant = meaning.commands if isinstance(meaning, Offer) else (meaning.command,)
    assert command in meant, lines_of(meaning)
    said = " ".join(lines_of(meaning))
    assert all(SAID[kind].split()[-1] in said for kind in kinds), said


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        # a name selects among the commands that have a verb
        ("restart gpu-a01", "node reboot gpu-a01"),
        ("restart detr", "training retry detr"),
        ("重启 gpu-a01 上的 device-plugin", "node restart-agent gpu-a01 gpu-operator/device-plugin"),
        ("last 100 lines of web-7d4f9", "pod logs serving/web-7d4f9 --tail 100"),
        ("last 100 lines of detr", "training logs detr --tail 100"),
        ("isolate gpu 3 of gpu-a01", "gpu cordon gpu-a01 3"),
        ("隔离 gpu-a01 的 3 号卡", "gpu cordon gpu-a01 3"),
        ("gpu-a01 跑一下 clear-images", "node repair gpu-a01 --with clear-images"),
        ("hand gpu-a01 over to bo", "node hand-over gpu-a01 --to bo"),
        ("gpu-a01 交给 bo", "node hand-over gpu-a01 --to bo"),
        ("assign gpu-a01 to me", "node hand-over gpu-a01 --to U_ANA"),
        # a question word selects among those that read
        ("what did bo do yesterday", "audit --since=48h --by bo"),
        ("bo 做了什么", "audit --by bo"),
        ("who cordoned gpu-a01", "audit --of gpu-a01"),
        ("why is breaker b2 open", "breaker list"),
        ("how often did gpu-a01 break", "node history gpu-a01"),
        ("why was detr queued", "training why detr"),
        ("when can detr start", "training why detr"),
        ("how many gpus does speech hold", "gpu list --team speech"),
        ("who is in team speech", "team list"),
        ("speech 组有谁", "team list"),
        ("has gpu-a01 broken often", "node history gpu-a01"),
        ("what automation waits", "remediation list"),
        ("delete the evicted pods of gpu-a01", "pod clean --evicted --node gpu-a01"),
        ("remove finished pods in namespace serving", "pod clean --namespace serving"),
        ("gather everything about gpu-a01 for the vendor", "node evidence gpu-a01"),
        ("reload clear-images on gpu-a01", "node repair gpu-a01 --with clear-images"),
        ("which trainings does the team speech run", "training list --team speech"),
        ("pods in namespace serving", "pod list --namespace serving"),
        ("my plans", "plan list --mine"),
        ("show me the dns of prod-b", "dns show --cluster prod-b"),
        ("prod-b 上的 gpu 还有多少", "gpu list --cluster prod-b"),
    ],
)  # fmt: skip
def test_a_name_or_a_question_selects_the_command(line: str, meant: str) -> None:
    assert meant in lines_of(understood(line))


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("why", "alert why i3"),
        ("how often?", "node history gpu-a02"),
        ("which pods are on it", "pod list --node gpu-a02"),
        ("who did what here", "audit --of gpu-a02"),
        ("give it to bo", "alert hand-over i3 bo"),
    ],
)
def test_in_a_thread_a_question_is_about_what_the_incident_concerns(line: str, meant: str) -> None:
    assert meant in lines_of(understood(line, THREAD))


MISTYPED = {
    NameKind.NODE: "gpu-a0l", NameKind.TRAINING: "dettr", NameKind.VOLUME: "imgaenet", NameKind.POD: "web-7df49",
    NameKind.ALERT: "GPUIdel", NameKind.RUNBOOK: "gpu_idle", NameKind.AGENT: "devcie-plugin",
    NameKind.REPAIR: "claer-images",
}  # fmt: skip
SHOWING = {
    NameKind.NODE: "noed show", NameKind.TRAINING: "trainig show", NameKind.VOLUME: "voulme show",
    NameKind.POD: "pod shwo", NameKind.ALERT: "alret why", NameKind.RUNBOOK: "runbok",
    NameKind.AGENT: "restart-agnet gpu-a01", NameKind.REPAIR: "repiar gpu-a01",
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTYPED, ids=lambda one: one.value)
def test_a_mistyped_name_of_any_kind_is_suggested_beside_a_mistyped_verb(kind: NameKind) -> None:
    said = " ".join(lines_of(understood(f"{SHOWING[kind]} {MISTYPED[kind]}")))
    assert SAID[kind].split("/")[-1] in said, said


def test_a_mistyped_name_is_not_compared_with_each_of_50000_pods() -> None:
    names = KnownNames({NameKind.POD: [f"vision/detr-worker-{number:05}" for number in range(50_000)]})
    assert names.near("detr-worker-0004x") == []


@pytest.mark.parametrize("said", ["gpu-a01 3 gpu cordon", "gpu cordon 3 on gpu-a01"])
def test_the_index_of_a_gpu_may_stand_anywhere(said: str) -> None:
    assert "gpu cordon gpu-a01 3" in lines_of(understood(said))


@pytest.mark.parametrize(
    "line",
    ["don't drain gpu-a01 before bo has saved", "do not stop detr", "别重启 gpu-a01", "never reboot gpu-a01"],
)
def test_who_warns_of_a_change_is_not_answered(line: str) -> None:
    assert lines_of(understood(line)) == []


@pytest.mark.parametrize(
    "line",
    [
        "gpu-a01 was cordoned",
        "gpu-a01 被隔离了吗",
        "who drained gpu-a01",
        "when was detr stopped",
    ],
)
def test_a_verb_in_the_past_starts_no_change(line: str) -> None:
    meaning = understood(line)
    assert not (isinstance(meaning, Run | Fill) and meaning.command.changes_something), lines_of(meaning)


@pytest.mark.parametrize("line", ["are there any silences on gpu-a01?", "is there a cordon on gpu-a01?"])
def test_a_question_suggests_no_change(line: str) -> None:
    meaning = understood(line)
    meant = meaning.commands if isinstance(meaning, Offer) else (meaning.command,)
    assert not any(one.changes_something for one in meant), lines_of(meaning)


def test_how_far_something_is_is_asked_of_what_the_thread_concerns() -> None:
    assert (
        lines_of(understood("progress?", {NameKind.PLAN: "p5", NameKind.NODE: "gpu-a02"}))[0]
        == "plan show p5"
    )


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (("stop", "stops", "stopped", "stopping"), True),
        (("drain", "drained", "draining"), True),
        (("queue", "queued", "queues", "queuing"), True),
        (("freeze", "froze", "frozen", "freezing"), True),
        (("node", "nodes"), True),
        (("retry", "retried"), True),
        (("cordon", "uncordon"), False),
        (("user", "use"), False),
    ],
)
def test_a_stem_is_a_word_without_plural_and_tense(words: tuple[str, ...], same: bool) -> None:
    assert (len({stem_of(word) for word in words}) == 1) is same
