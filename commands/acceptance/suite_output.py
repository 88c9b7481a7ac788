"""Outputs of the tests of a suite, kept with its plan: read when the plan has ended, never shown as it is."""

from dataclasses import dataclass

from alerts.store import stored
from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from collectors.facts.sentences import sentence
from commands.acceptance.acceptance import PlannedTest
from commands.acceptance.judgement import SuiteResult
from commands.execution.plan import StepRecord, StepState

KEPT = 256 << 10  # characters of an output; the diagnostic of 16 GPUs has some 60,000


@stored("suite_outputs", "cluster", "plan", goes_with=("plan", "plans"), in_plans=True)
@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOutput:
    """The output of one step. `hung`: it ran, and did not end in time; then the output is what it had printed."""

    id: str  # of the step's record
    cluster: str
    plan: str
    text: str
    hung: str = ""


def suite_result(test: PlannedTest, record: StepRecord | None, output: SuiteOutput | None) -> SuiteResult:
    """Return what came of a test of a plan that has ended."""
    if output is not None and output.hung:
        return SuiteResult(name=test.name, hung=output.hung)
    if output is not None:
        return SuiteResult(name=test.name, reading=OUTPUT_READERS[test.reads](output.text))
    if record is None or record.state in (StepState.WAITING, StepState.SKIPPED):
        return SuiteResult(name=test.name, not_run=sentence("it was not begun"))
    return SuiteResult(name=test.name, not_run=record.outcome or sentence("it ended without an output"))
