"""The result of a test of a suite, from the row of its Job. Pure."""

from collections.abc import Mapping
from typing import Any

from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from collectors.acceptance.validations import VERDICT_READERS, judged_conditions
from collectors.facts.sentences import sentence
from commands.acceptance.acceptance import PlannedTest
from commands.acceptance.judgement import SuiteResult
from commands.execution.job_runs import JobRun, JobRunState
from commands.execution.steps.create import PLAN_ANNOTATION


def other_result(test: PlannedTest, found: Mapping[str, Any] | None, plan: str) -> SuiteResult:
    """Return what another program said of the node, by its object as it is now."""
    if found is None:
        return SuiteResult(name=test.name, not_run=sentence("its object is not there"))
    if test.reads == "conditions":
        return SuiteResult(name=test.name, reading=judged_conditions(found, test.wanted))
    if (found["metadata"].get("annotations") or {}).get(PLAN_ANNOTATION) != plan:
        return SuiteResult(name=test.name, not_run=sentence("its object was not created by this plan"))
    reading = VERDICT_READERS[test.reads](found, test.wanted)
    if reading is None:
        return SuiteResult(name=test.name, not_run=sentence("it is not over"))
    return SuiteResult(name=test.name, reading=reading)


def suite_result(test: PlannedTest, run: JobRun | None) -> SuiteResult:
    """Return what came of a test of a plan that has ended."""
    if run is None:
        return SuiteResult(name=test.name, not_run=sentence("it was not started"))
    if run.is_late:
        return SuiteResult(name=test.name, hung=run.reason or sentence("it did not end in time"))
    if run.state is JobRunState.RUNNING:
        return SuiteResult(name=test.name, not_run=sentence("how it ended was not seen"))
    if run.exit_code is None:
        return SuiteResult(name=test.name, not_run=run.reason or sentence("how it ended was not seen"))
    reading = OUTPUT_READERS[test.reads](run.log)
    if run.exit_code and not reading.failed:
        return SuiteResult(name=test.name, not_run=run.reason)
    return SuiteResult(name=test.name, reading=reading)
