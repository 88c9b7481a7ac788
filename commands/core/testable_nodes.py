"""Tests of a suite for which the settings name no image, so that no node can be tested. Pure."""

from collections.abc import Sequence

from collectors.facts.sentences import as_code, sentence
from commands.acceptance.suites import AcceptancePolicy, SuiteTest
from commands.core.node_script import NodeJobDefaults


def without_images(tests: Sequence[SuiteTest], jobs: NodeJobDefaults) -> tuple[str, ...]:
    """Return the tests for which the settings name no image, as `node_jobs.images` would name them."""
    return tuple(one.script for one in tests if not (one.image or jobs.images.get(one.script) or jobs.image))


def what_tests_lack(policy: AcceptancePolicy, jobs: NodeJobDefaults) -> str:
    """Return what to set before `node accept` can run the suite of the settings; empty if nothing is missing."""
    suite = policy.all.get(policy.suite)
    missing = without_images(suite.of(has_pair=False), jobs) if suite is not None else ()
    if not missing:
        return ""
    return sentence(
        "`node accept` could test it, with an image for {scripts} in `node_jobs.images`, or one for all as "
        "`node_jobs.image`.",
        scripts=as_code(missing),
    )
