"""`training show` of what has failed: as its logs say it now, or as they said it when it failed."""

import json
from dataclasses import replace
from typing import Any

from collectors.trainings.training import Rank, TrainingState
from tests.support.rows import a_launch
from tests.support.trainings import a_training
from tests.support.yard import ANA, CLUSTER, NOON, Yard

ENDED_FIRST = Rank(role="worker", index=0, pod="asr-0", node="gpu-a02", exit_code=1, finished=NOON)
FAILED = a_training(
    "speech",
    "asr",
    TrainingState.FAILED,
    failures=(ENDED_FIRST, replace(ENDED_FIRST, index=3, pod="asr-3", node="gpu-a01")),
    finished=NOON,
)


class Said:
    async def logs(self, _namespace: str, pod: str, **_more: Any) -> str:
        text = (
            "ValueError: no batch" if pod == "asr-3" else "RuntimeError: Connection closed by peer [10.0.0.7]"
        )
        return f"{NOON:%Y-%m-%dT%H:%M:%S}Z {text}\n"


async def test_it_names_the_task_that_failed_first_its_line_and_the_cause(yard: Yard) -> None:
    yard.cluster.trainings = lambda: (FAILED,)  # type: ignore[method-assign]
    yard.cluster.pod_logs = Said()  # type: ignore[assignment]
    said = await yard.say("training show asr", ANA)
    assert "First failure: worker 3 on gpu-a01: exit code 1" in said
    assert "Cause: its own program ended with an error" in said
    assert "ValueError: no batch" in said
    answer = await yard.answer("training show asr --json", ANA)
    assert answer is not None
    failure = json.loads(answer.message.attachments[0].content)["failure"]
    assert (failure["first"]["pod"], failure["cause"], failure["line"]) == (
        "asr-3",
        "user",
        "ValueError: no batch",
    )


async def test_once_its_logs_are_gone_it_is_as_it_was_found(yard: Yard) -> None:
    yard.cluster.trainings = lambda: (FAILED,)  # type: ignore[method-assign]
    yard.cluster.pod_logs = None
    async with yard.store.unit() as unit:
        row = a_launch(NOON, id=f"{CLUSTER}/{FAILED.id}", training=FAILED.id, reported_state="failed")
        found = replace(row, first=FAILED.failures[1], first_line="ValueError: no batch", cause="user")
        await unit.rows(type(row)).put(found)
    said = await yard.say("training show asr", ANA)
    assert "First failure: worker 3 on gpu-a01" in said
    assert "ValueError: no batch" in said
