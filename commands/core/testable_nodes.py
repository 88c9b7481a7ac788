"""Tests of a suite for which the settings name no image, so that no node can be tested. Pure."""

from collections.abc import Sequence

from collectors.facts.sentences import sentence
from commands.acceptance.suites import AcceptancePolicy, SuiteTest
from commands.core.node_script import NodeJobDefaults


def without_images(tests: Sequence[SuiteTest], jobs: NodeJobDefaults) -> tuple[str, ...]:
    """Return the tests for which the settings name no image, as `node_jobs.images` would name them."""
    return tuple(one.script for one in tests if not (one.image or jobs.images.get(one.script) or jobs.image))


def what_tests_lack(policy: AcceptancePolicy, jobs: NodeJobDefaults) -> str:
    """Return why `node accept` cannot run the suite of the settings; empty if nothing is missing.

    It is for a card: which images are missing, `node accept` itself says.
    """
    suite = policy.all.get(policy.suite)
    if suite is None or not without_images(suite.of(has_pair=False), jobs):
        return ""
    return sentence("`node accept` cannot test it: the settings name no images for its tests.")
