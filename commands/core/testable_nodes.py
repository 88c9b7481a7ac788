"""Tests of a suite for which the settings name no image, so that no node can be tested. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from collectors.facts.sentences import sentence
from commands.acceptance.suites import AcceptancePolicy, SuiteTest
from commands.core.node_script import NodeJobDefaults


def without_images(tests: Sequence[SuiteTest], jobs: NodeJobDefaults) -> tuple[str, ...]:
    """Return the tests for which the settings name no image, as `node_jobs.images` would name them."""
    return tuple(one.script for one in tests if not (one.image or jobs.images.get(one.script) or jobs.image))


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTests:
    """What the suite of the settings can test: a node, and whether also one GPU alone.

    `lack` is why it cannot run, for a card; empty if nothing is missing. Which images are, `node accept` itself says.
    """

    lack: str = ""
    of_one_gpu: bool = True


ANY_TESTS = NodeTests()


def node_tests(policy: AcceptancePolicy, jobs: NodeJobDefaults) -> NodeTests:
    suite = policy.all.get(policy.suite)
    if suite is None:
        return ANY_TESTS
    lacks = without_images(suite.of(has_pair=False), jobs)
    lack = (
        sentence("`node accept` cannot test it: the settings name no images for the tests.") if lacks else ""
    )
    return NodeTests(lack=lack, of_one_gpu=bool(suite.of_one_gpu))
