"""A stage whose settings name a suite of two tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.accepting import with_suite
from tests.support.drained import ON_BOTH_SERVERS
from tests.support.node_jobs import JobStage, job_stage


@pytest.fixture(params=ON_BOTH_SERVERS)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JobStage]:
    async with job_stage(request, tmp_path, policy=with_suite) as made:
        yield made


@pytest.fixture
async def light_stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[JobStage]:
    async with job_stage(request, tmp_path, policy=with_suite) as made:
        yield made
