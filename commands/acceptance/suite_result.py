"""The result of a test of a suite, from the row of its Job. Pure."""

from collectors.acceptance.reader_catalogue import OUTPUT_READERS
from collectors.facts.sentences import sentence
from commands.acceptance.acceptance import PlannedTest
from commands.acceptance.judgement import SuiteResult
from commands.execution.job_runs import JobRun, JobRunState


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
