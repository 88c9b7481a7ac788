"""The gate of the second person: whose work needs one, who agrees to it, and who may confirm alone."""

from dataclasses import replace

from commands.core.grant import Grant
from commands.execution.disruption import Disruption
from commands.gates.second_person import Ownership, consents, reasons, team_alone

ANA = Ownership(owners=frozenset({"ana"}), teams=frozenset({"vision"}))
DANA = Ownership(owners=frozenset({"dana"}), teams=frozenset({"sre"}))
DETR = Disruption(name="detr", shown="vision/detr", owner="ana", team="vision", gpus=8, ends=True)


def test_running_work_of_another_team_needs_a_second_person() -> None:
    assert [str(one) for one in reasons([DETR], (), DANA)] == ["it ends vision/detr of ana"]


def test_ones_own_work_and_that_of_ones_team_needs_none() -> None:
    mei = Ownership(owners=frozenset({"mei"}), teams=frozenset({"vision"}))
    assert reasons([DETR], (), ANA) == ()
    assert reasons([DETR], (), mei) == ()


def test_work_without_an_owner_is_not_the_askers() -> None:
    nobodys = replace(DETR, owner="", team="")
    nameless = Ownership(owners=frozenset({""}), teams=frozenset({""}))
    for asker in (DANA, nameless):
        (reason,) = reasons([nobodys], (), asker)
        assert "whose owner is not known" in reason


def test_work_that_is_moved_or_agreed_to_needs_none() -> None:
    assert reasons([replace(DETR, ends=False)], (), DANA) == ()


def test_what_is_lost_for_good_needs_one_whoever_asks() -> None:
    assert reasons([DETR], ("it deletes the volume claims of namespace lab",), ANA) == (
        "it deletes the volume claims of namespace lab",
    )


def test_who_owns_all_that_ends_agrees_to_it() -> None:
    other = replace(DETR, name="asr", owner="bo", team="speech")
    assert consents([DETR, replace(other, ends=False)], ANA)
    assert not consents([DETR, other], ANA)
    assert not consents([DETR], DANA)
    assert not consents([replace(DETR, ends=False)], ANA), "nothing ends that they could agree to"
    assert not consents([DETR], Ownership(owners=frozenset(), teams=frozenset({"vision"}))), "a colleague"


def test_a_team_may_confirm_alone_only_what_it_may_run_there() -> None:
    grants = {
        "sre": Grant(
            commands=("node *",),
            clusters=("prod-*",),
            namespaces=("vision-*",),
            may_confirm_alone=("node drain", "volume *"),
        ),
        "vision": Grant(commands=("training *",)),
    }
    teams = ("sre", "vision", "unknown")

    def alone(
        *commands: str, cluster: str = "prod-a", namespaces: tuple[str, ...] = (), of: tuple[str, ...] = teams
    ) -> str:
        return team_alone(of, grants, commands, cluster=cluster, namespaces=namespaces)

    assert alone("node drain") == "sre"
    assert alone("node drain", namespaces=("vision-a",)) == "sre"
    assert alone("node drain", namespaces=("vision-a", "kube-system")) == "", "it has no grant there"
    assert alone("node drain", cluster="lab") == ""
    assert alone("node cordon") == ""
    assert alone("node drain", "plan exceed") == "", "to go over a budget is another thing"
    assert alone("volume freeze") == "", "it may not run it at all"
    assert alone("training stop", of=("vision",)) == ""
