"""`node accept` before it begins: what it refuses, and what its Jobs are."""

from dataclasses import replace
from pathlib import Path

import pytest

from commands.core.context import Defaults
from commands.core.node_script import NodeJobDefaults
from tests.support.accepting import SCRIPT, a_suite, begun, cordon, run_all
from tests.support.node_jobs import JobStage, job_stage


async def test_a_node_that_takes_pods_is_not_tested_and_a_cordon_is_offered(light_stage: JobStage) -> None:
    said = await light_stage.yard.say(f"node accept {light_stage.node}")
    assert f"{light_stage.node} is not cordoned, and its tests take all its GPUs" in said
    assert "node cordon" in said


async def test_a_suite_that_is_not_there_is_answered_with_those_that_are(light_stage: JobStage) -> None:
    await cordon(light_stage)
    said = await light_stage.yard.say(f"node accept {light_stage.node} --suite burn-in")
    assert said == "There is no suite burn-in. There are certification, nvsentinel, ours, yardmaster."


async def test_images_that_are_missing_are_asked_for_by_name(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    def without(jobs: NodeJobDefaults) -> Defaults:
        images = {"accept/devices": "registry.example/cuda:1"}
        return Defaults(
            node_jobs=replace(jobs, image="", images=images), acceptance=a_suite("devices", "disk", "nccl")
        )

    async with job_stage(request, tmp_path, policy=without) as stage:
        await cordon(stage)
        said = await stage.yard.say(f"node accept {stage.node}")
    assert "The settings name no image for accept/disk, accept/nccl: add each to node_jobs.images" in said


async def test_the_jobs_get_the_gpus_and_nothing_of_the_chat_is_in_their_commands(
    light_stage: JobStage,
) -> None:
    await cordon(light_stage)
    plan, task = await begun(light_stage)
    assert plan.title == f"Test {light_stage.node} with suite ours"
    await light_stage.pod()
    (job,) = await light_stage.jobs()
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert container["command"] == ["/bin/sh", "-c", SCRIPT]
    assert {one["name"] for one in container["env"]} == {
        "NODE_NAME",
        "YARDMASTER_GPUS",
        "YARDMASTER_NEIGHBOUR",
    }
    await run_all(light_stage, task, 0, 0)
    await light_stage.nothing_is_left()
