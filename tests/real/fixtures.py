"""This file hands the real parts to tests, as fixtures. A server starts when the first test asks for it.

A test that uses one gets the marker `real`. Where a part is missing, the test is skipped with a reason that says
how to get it; where the environment variable CI is set it fails instead, so that nothing is skipped unseen there.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from demo.parts.processes import MissingPartError
from demo.parts.prometheus import PrometheusServer, find_prometheus, find_promtool
from tests.real.parts.layout import HOW_TO_GET, helm_program, kubeconform_program
from tests.real.parts.needs import NeedError
from tests.real.servers.alertmanager import AlertmanagerServer, find_alertmanager, find_amtool
from tests.real.servers.chromium import find_chromium
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.kubernetes import KubernetesCluster

T = TypeVar("T")

_NO_SCRAPES = "global: {scrape_interval: 1s}\n"


@pytest.fixture(scope="session")
def promtool_path() -> Path:
    """Prometheus' own checker of rules."""
    return present_or_skip(find_promtool)


@pytest.fixture(scope="session")
def amtool_path() -> Path:
    """Alertmanager's own command line."""
    return present_or_skip(find_amtool)


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """A browser; start it with `tests.real.servers.chromium.CHROMIUM_FLAGS`."""
    return present_or_skip(find_chromium)


@pytest.fixture(scope="session")
def helm_path() -> Path:
    """The helm program."""
    return present_or_skip(lambda: _built(helm_program()))


@pytest.fixture(scope="session")
def kubeconform_path() -> Path:
    """Checks manifests against the schemas of Kubernetes. It wants to fetch those: give it `-schema-location`."""
    return present_or_skip(lambda: _built(kubeconform_program()))


@pytest.fixture(scope="session")
def real_prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """A Prometheus that scrapes nothing, for questions of grammar and functions. Leave its configuration alone."""
    present_or_skip(find_prometheus)
    with PrometheusServer(config=_NO_SCRAPES, folder=tmp_path_factory.mktemp("prometheus")) as server:
        yield server


@pytest.fixture
def start_prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], PrometheusServer]]:
    """A function that starts a Prometheus of the test's own on a configuration text; it ends with the test."""
    present_or_skip(find_prometheus)
    with ExitStack() as servers:

        def start(config: str) -> PrometheusServer:
            folder = tmp_path_factory.mktemp("prometheus")
            return servers.enter_context(PrometheusServer(config=config, folder=folder))

        yield start


@pytest.fixture(scope="session")
def real_alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AlertmanagerServer]:
    """An Alertmanager that tells nobody. Tests share it: give alerts names of your own."""
    present_or_skip(find_alertmanager)
    with AlertmanagerServer(folder=tmp_path_factory.mktemp("alertmanager")) as server:
        yield server


@pytest.fixture(scope="session")
def real_elasticsearch() -> Iterator[ElasticsearchServer]:
    """An Elasticsearch 8. Tests share it: give indices names of your own."""
    with present_or_skip(ElasticsearchServer) as server:
        yield server


@pytest.fixture(scope="session")
def real_kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesCluster]:
    """A control plane without kubelets. Tests share it: take names of your own, and remove your nodes."""
    with present_or_skip(lambda: KubernetesCluster(tmp_path_factory.mktemp("kubernetes"))) as cluster:
        yield cluster


_REAL = frozenset(
    {
        "amtool_path",
        "chromium_path",
        "helm_path",
        "kubeconform_path",
        "promtool_path",
        "real_alertmanager",
        "real_elasticsearch",
        "real_kubernetes",
        "real_prometheus",
        "start_prometheus",
    }
)


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use a real part, directly or through another fixture."""
    for item in items:
        if _REAL.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.real)


def present_or_skip(find: Callable[[], T]) -> T:
    """What `find` finds, or the end of the test."""
    try:
        return find()
    except (MissingPartError, NeedError, FileNotFoundError) as error:
        why = f"a real part is missing: {error}"
        if os.environ.get("CI"):
            pytest.fail(why, pytrace=False)
        pytest.skip(why)


def _built(program: Path) -> Path:
    if not program.is_file():
        raise MissingPartError(f"no {program}; {HOW_TO_GET.format(part='helm')}")
    return program
