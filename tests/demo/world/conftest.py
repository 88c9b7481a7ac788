"""This file gives the tests of the world a cluster that is at work, without any API server."""

import pytest

from tests.demo.world.clusters import Cluster, a_working_cluster


@pytest.fixture
def cluster() -> Cluster:
    """The cluster of the demo, five minutes after everything was started."""
    return a_working_cluster()
