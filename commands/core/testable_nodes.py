"""Tests of a suite for which the settings name no image, so that no node can be tested. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.sentences import as_code, sentence
from commands.acceptance.suites import AcceptancePolicy, SuiteTest
from commands.core.node_script import NodeJobDefaults


def without_images(tests: Sequence[SuiteTest], jobs: NodeJobDefaults) -> tuple[str, ...]:
    """Return the tests for which the settings name no image, as `node_jobs.images` would name them."""
    return tuple(one.script for one in tests if not (one.image or jobs.images.get(one.script) or jobs.image))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTests:
    """What the suite of the settings can test: a node, and whether also one GPU alone.

    `lack` is what to set before it can run; empty if nothing is missing.
    """

    lack: str = ""
    of_one_gpu: bool = True


ANY_TESTS = NodeTests()


def node_tests(policy: AcceptancePolicy, jobs: NodeJobDefaults) -> NodeTests:
    suite = policy.all.get(policy.suite)
    if suite is None:
        return ANY_TESTS
    missing = without_images(suite.of(has_pair=False), jobs)
    lack = sentence(
        "`node accept` could test it, with an image for {scripts} in `node_jobs.images`, or one for all as "
        "`node_jobs.image`.",
        scripts=as_code(missing),
    )
    return NodeTests(lack=lack if missing else "", of_one_gpu=bool(suite.of_one_gpu))
