"""Each kind of step has every part of the port, and a write whose response is lost is unknown for each."""

from pathlib import Path
from typing import Any, get_args

import pytest

from collectors.facts.results import SourceError
from commands.execution.cluster_writer import ClusterWriter
from commands.execution.plan import StepState
from commands.execution.steps import Call, Evict, Exec, Patch, Record, Running, Scale, Step, Wait, step_kind
from commands.execution.steps.step_kind import PARTS, StepKind
from demo.lookalikes.kubernetes import KubernetesLookalike
from tests.support.execution import EFFECTS, executor, furnished, journalled, plan_of
from tests.support.memory_store import MemoryStore

KINDS = get_args(Step)
WITHOUT_A_WRITE = (Wait, Running, Record, Call, Exec)  # nothing is sent to the cluster


def test_every_file_of_the_folder_is_a_kind() -> None:
    files = {file.stem for file in Path(step_kind.__file__).parent.glob("*.py")} - {"__init__", "step_kind"}
    forgotten = files - {kind.__name__.lower() for kind in KINDS}
    assert not forgotten, f"commands/execution/steps/__init__.py: `Step` has no line for {forgotten}"


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_kind_defines_every_part(kind: type[Any], part: str) -> None:
    defined = {name for one in kind.__mro__ if one is not StepKind for name in vars(one)}
    assert part in defined, f"{kind.__name__} in commands/execution/steps has no `{part}`"


def test_every_kind_is_among_the_steps_that_the_executor_is_tested_with(kube: KubernetesLookalike) -> None:
    tested = [type(step) for step in furnished(kube)]
    missing = [kind.__name__ for kind in KINDS if kind not in tested]
    assert not missing, f"tests/support/execution.py: `furnished` has no step of {missing}"
    assert tested == list(EFFECTS), (
        "tests/support/execution.py: EFFECTS says what each step of `furnished` changes"
    )


def test_the_kinds_have_different_tags() -> None:
    tags = [kind.__struct_config__.tag for kind in KINDS]
    assert len(set(tags)) == len(KINDS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in WITHOUT_A_WRITE])
@pytest.mark.parametrize("lands", [True, False], ids=["took effect", "no effect"])
async def test_a_write_that_gets_no_answer_is_unknown(
    kube: KubernetesLookalike,
    writer: ClusterWriter,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[Any],
    lands: bool,
) -> None:
    (step,) = (step for step in furnished(kube) if type(step) is kind)
    client, is_dark = writer._client, False
    real = client.call

    async def call(method: str, path: str, **named: Any) -> bytes:
        nonlocal is_dark
        if method != "GET" and not is_dark and lands:
            await real(method, path, **named)
        is_dark = is_dark or method != "GET"
        if is_dark:
            raise SourceError("kube did not answer completely within 10 s")
        return await real(method, path, **named)

    monkeypatch.setattr(client, "call", call)
    store = MemoryStore()
    runs = executor(store, writer)
    over = await runs.execute(plan_of(step))
    assert [record.state for record in await journalled(store, over)] == [StepState.UNKNOWN]
    assert step.how_to_check in over.error

    monkeypatch.undo()
    settled = await runs.settle(over)
    (record,) = await journalled(store, settled)
    assert record.state is (StepState.DONE if lands else StepState.FAILED)
    seen = "was done" if lands else "was not done"
    assert f"a later check showed that it {seen}" in record.outcome
    assert (settled.state.value, settled.error) == (("done", "") if lands else ("failed", record.outcome))


@pytest.mark.parametrize("kind", [Patch, Scale, Evict, Wait, Running])  # the others begin with their write
async def test_a_step_that_cannot_even_be_looked_at_was_not_done(
    kube: KubernetesLookalike, writer: ClusterWriter, monkeypatch: pytest.MonkeyPatch, kind: type[Any]
) -> None:
    (step,) = (step for step in furnished(kube) if type(step) is kind)

    async def dark(*_: Any, **__: Any) -> bytes:
        raise SourceError("the network is down", status=None)

    monkeypatch.setattr(writer._client, "call", dark)
    store = MemoryStore()
    over = await executor(store, writer).execute(plan_of(step))
    assert [record.state for record in await journalled(store, over)] == [StepState.FAILED]
    assert over.error == "the network is down. This step was not done."
