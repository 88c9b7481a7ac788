"""Fixtures: a busy cluster without an API server."""

import pytest

from tests.demo.world.clusters import Cluster, working_cluster


@pytest.fixture
def cluster() -> Cluster:
    """The demo's cluster, five minutes after the start of its pods."""
    return working_cluster()
