"""The sender of a line: an outage of Slack is taken neither for a refusal nor for a stranger."""

from pathlib import Path

from tests.support.light import CHANNEL, Light, light

UNKNOWN = "cannot check who you are right now"
CORDON = "node cordon gpu-a01 --reason fan"


def remove_from(stage: Light, group: str, who: str) -> None:
    """Remove a person from a user group of Slack."""
    groups = stage.slack.workspace.directory.groups
    groups[stage.slack.id(group)].members.remove(stage.slack.id(who))


async def test_one_failed_lookup_of_a_user_or_a_group_changes_nothing(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        for method in ("users.info", "usergroups.list"):
            stage.slack.fail(method, 500, times=1)
        assert "Cordon gpu-a01?" in (await stage.asks("dana", CORDON)).said


async def test_while_a_group_cannot_be_looked_up_its_members_are_not_taken_for_others(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.fail("usergroups.list", 500, times=100)
        answer = await stage.asks("dana", CORDON)
        assert UNKNOWN in answer.said
        assert "is for" not in answer.said
        stage.slack.forgive()
        assert "Cordon gpu-a01?" in (await stage.asks("dana", CORDON)).said
        assert len(await stage.plans()) == 1


async def test_slack_limiting_auth_test_is_not_taken_for_a_missing_installation(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.fail("auth.test", "ratelimited", times=100)
        await stage.slack.types("gus", CHANNEL, "/yard help")
        await stage.slack.types("dana", CHANNEL, f"@yardmaster {CORDON}")
        (answer,) = await stage.slack.until(lambda: stage.slack.ephemerals("dana"))
        assert "Cordon gpu-a01?" in answer.said
        assert all("members of this workspace only" in one.said for one in stage.slack.ephemerals("gus"))
        assert stage.slack.notices("gus") == []


async def test_a_person_who_left_the_team_cannot_confirm(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        remove_from(stage, "sre", "dana")
        answer = await stage.presses("dana", preview, "Confirm")
        assert "Only sre may run" in answer.said
        assert stage.writes() == []
        assert [plan.state.value for plan in await stage.plans()] == ["proposed"]


async def test_a_person_who_cannot_be_checked_cannot_confirm_yet(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        preview = await stage.asks("dana", CORDON)
        (plan,) = await stage.plans()
        stage.slack.fail("users.info", 500, times=100)
        answer = await stage.asks("dana", f"plan confirm {plan.id} --hash {plan.hash}")
        assert UNKNOWN in answer.said
        assert stage.writes() == []
        stage.slack.forgive()
        await stage.presses("dana", preview, "Confirm")
        await stage.plan_is("done")


async def test_after_a_restart_somebody_who_cannot_be_looked_up_yet_reads_that(tmp_path: Path) -> None:
    async with light(tmp_path) as stage:
        stage.slack.fail("users.info", 500, times=100)
        assert UNKNOWN in (await stage.asks("dana", "node list")).said
        stage.slack.forgive()
        assert "gpu-a01" in (await stage.asks("dana", "node list")).said
