"""The command pipeline for launches and requests: permissions, dry runs, words after `--`."""

import pytest

from commands.command_catalogue import CATALOGUE
from commands.core.command import UnusableError
from commands.core.form import fields_of
from commands.core.grant import Grant
from commands.core.number_range import NumberRange
from commands.core.parsing import parse_line
from commands.core.permissions import Permissions
from commands.core.request import Actor, ActorKind
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.yard import ANA, DANA, Yard

LAUNCH = "training launch mnist --image registry.example/mnist:7"


def test_words_after_the_dashes_are_not_parsed_as_options() -> None:
    command, action = parse_line(f"{LAUNCH} -- --workers 9 -- 'a b'", CATALOGUE)
    assert command.name == "training launch"
    assert (action.workers, action.extra) == (NumberRange(least=1, most=1), ("--workers", "9", "--", "a b"))


def test_other_commands_accept_no_extra_words() -> None:
    with pytest.raises(UnusableError, match="one word too many"):
        parse_line("gpu list -- x", CATALOGUE)


@pytest.mark.parametrize("name", ["gpu keep", "gpu snooze", "gpu release", "plan confirm", "plan cancel"])
def test_a_command_that_checks_permission_itself_is_open_to_everyone_but_guests(name: str) -> None:
    command = next(one for one in CATALOGUE if one.name == name)
    nobody = Permissions(teams={}, automation={})
    assert nobody.refusal(Actor(id="U", name="u"), command, cluster="c") is None
    assert nobody.refusal(Actor(id="U", name="u", is_guest=True), command, cluster="c") == ""
    assert nobody.refusal(Actor(id="r", name="r", kind=ActorKind.AUTOMATION), command, cluster="c")


async def test_confirming_a_plan_needs_a_grant_in_its_namespace(yard: Yard) -> None:
    plan = await yard.plan(LAUNCH, ANA)
    outsider = Actor(id="U_BO", name="bo", teams=frozenset({"speech"}))
    reply = await yard.say(f"plan confirm {plan.id}", outsider)
    assert "not in namespace mnist" in reply


async def test_a_launch_is_dry_run_before_the_preview(yard: Yard, kube: KubernetesLookalike) -> None:
    kube.fail(lambda seen: seen.method == "POST" and seen.dry_run and "jobs" in seen.path, 422)
    reply = await yard.say(LAUNCH, ANA)
    assert "Kubernetes would refuse to create Job mnist-worker" in reply
    assert kube.get("namespaces", "", "mnist") is None


async def test_names_in_the_namespace_of_the_dry_run_do_not_matter(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    taken = {"name": "mnist-worker", "namespace": "default"}
    kube.create({"apiVersion": "v1", "kind": "Service", "metadata": taken, "spec": {"clusterIP": "None"}})
    await yard.plan(LAUNCH, ANA)


async def test_a_missing_pull_secret_is_reported_before_anything_is_done(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    kube.delete("secrets", "platform", "regcred")
    assert "platform/regcred for new trainings does not exist" in await yard.say(LAUNCH, ANA)


def test_automation_may_settle_only_in_granted_namespaces() -> None:
    command = next(one for one in CATALOGUE if one.name == "gpu settle")
    automation = Actor(id="reclaim", name="reclaim", kind=ActorKind.AUTOMATION)
    allowed = Permissions(
        teams={}, automation={"reclaim": Grant(commands=("gpu settle",), namespaces=("vision-*",))}
    )
    assert allowed.refusal(automation, command, cluster="c", namespaces=["vision-detr"]) is None
    assert allowed.refusal(automation, command, cluster="c", namespaces=["speech-tts"])


async def test_the_form_begins_with_what_the_same_person_launched_last_but_for_its_name(
    yard: Yard, kube: KubernetesLookalike
) -> None:
    assert kube.url
    await yard.do(f"{LAUNCH} --gpus 1 --service-per-task -- --epochs '3 4'", ANA)

    async def begins_with(actor: Actor, line: str = "training launch") -> dict[str, tuple[str, ...]]:
        answer = await yard.answer(line, actor)
        assert answer is not None
        assert answer.form is not None
        return {one.name: one.values for one in fields_of(answer.form) if one.values}

    assert await begins_with(ANA) == {
        "--image": ("registry.example/mnist:7",),
        "--gpus": ("1",),
        "--service-per-task": ("--service-per-task",),
        "extra": ("--epochs '3 4'",),
    }
    assert await begins_with(ANA, "training launch mnist2") == {"name": ("mnist2",)}
    assert await begins_with(DANA) == {}
