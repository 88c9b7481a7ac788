"""Fixtures for the real parts. A server starts when the first test needs it.

A test that uses one gets the marker `real`. If a part is missing, the test is skipped with a reason that says how
to get it; if the environment variable CI is set, it fails instead, so that CI skips nothing unnoticed.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from demo.parts.processes import MissingPartError
from demo.parts.prometheus import PrometheusServer, find_prometheus, find_promtool, import_openmetrics
from tests.real.parts.layout import (
    ELASTICSEARCH_7,
    HOW_TO_GET,
    elasticsearch_zip,
    helm_program,
    kubeconform_program,
)
from tests.real.parts.needs import NeedError
from tests.real.servers.alertmanager import AlertmanagerServer, find_alertmanager, find_amtool
from tests.real.servers.chromium import find_chromium
from tests.real.servers.elasticsearch import ElasticsearchServer
from tests.real.servers.jobset import JobSetController
from tests.real.servers.kubernetes import KubernetesCluster
from tests.real.servers.opensearch import OpenSearchServer
from tests.real.servers.trainer import Trainer

T = TypeVar("T")


class StartPrometheus(Protocol):
    """Starts a private Prometheus with a configuration, and with samples that it has already."""

    def __call__(self, config: str = ..., *, samples: Iterable[str] = ...) -> PrometheusServer: ...


_NO_SCRAPES = "global: {scrape_interval: 1s}\n"


@pytest.fixture(scope="session")
def promtool_path() -> Path:
    """The path of promtool, which checks rules."""
    return present_or_skip(find_promtool)


@pytest.fixture(scope="session")
def amtool_path() -> Path:
    """The path of amtool, Alertmanager's command line."""
    return present_or_skip(find_amtool)


@pytest.fixture(scope="session")
def chromium_path() -> Path:
    """A browser; start it with `tests.real.servers.chromium.CHROMIUM_FLAGS`."""
    return present_or_skip(find_chromium)


@pytest.fixture(scope="session")
def helm_path() -> Path:
    """The helm program."""
    return present_or_skip(lambda: _existing(helm_program()))


@pytest.fixture(scope="session")
def kubeconform_path() -> Path:
    """Checks manifests against Kubernetes schemas. It downloads them unless it gets `-schema-location`."""
    return present_or_skip(lambda: _existing(kubeconform_program()))


@pytest.fixture(scope="session")
def real_prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """A Prometheus that scrapes nothing, for queries of syntax and functions. Do not change its configuration."""
    present_or_skip(find_prometheus)
    with PrometheusServer(config=_NO_SCRAPES, folder=tmp_path_factory.mktemp("prometheus")) as server:
        yield server


@pytest.fixture
def start_prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartPrometheus]:
    """Return a function that starts a private Prometheus with a configuration; it stops after the test.

    `samples` are lines of OpenMetrics with Unix timestamps in seconds: the data that it has already.
    """
    present_or_skip(find_prometheus)
    with ExitStack() as servers:

        def start(config: str = _NO_SCRAPES, *, samples: Iterable[str] = ()) -> PrometheusServer:
            folder = tmp_path_factory.mktemp("prometheus")
            with (folder / "samples.om").open("w") as file:
                count = sum(file.write(f"{line}\n") > 0 for line in samples)
                file.write("# EOF\n")
            if count:
                import_openmetrics(folder / "samples.om", folder)
            return servers.enter_context(PrometheusServer(config=config, folder=folder))

        yield start


@pytest.fixture(scope="session")
def real_alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AlertmanagerServer]:
    """An Alertmanager that notifies nobody. Tests share it: use unique alert names."""
    present_or_skip(find_alertmanager)
    with AlertmanagerServer(folder=tmp_path_factory.mktemp("alertmanager")) as server:
        yield server


@pytest.fixture(scope="session")
def real_elasticsearch() -> Iterator[ElasticsearchServer]:
    """An Elasticsearch 8. Tests share it: use unique index names."""
    with present_or_skip(ElasticsearchServer) as server:
        yield server


@pytest.fixture(scope="session")
def real_elasticsearch_7() -> Iterator[ElasticsearchServer]:
    """An Elasticsearch 7.17. Tests share it: use unique index names."""
    with present_or_skip(lambda: ElasticsearchServer(elasticsearch_zip(ELASTICSEARCH_7))) as server:
        yield server


@pytest.fixture(scope="session")
def real_opensearch() -> Iterator[OpenSearchServer]:
    """An OpenSearch 2. Tests share it: use unique index names."""
    with present_or_skip(OpenSearchServer) as server:
        yield server


@pytest.fixture(scope="session")
def real_kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubernetesCluster]:
    """A control plane without kubelets. Tests share it: use unique names, and delete your nodes."""
    with present_or_skip(lambda: KubernetesCluster(tmp_path_factory.mktemp("kubernetes"))) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def real_jobset(
    real_kubernetes: KubernetesCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KubernetesCluster]:
    """The same control plane, with JobSet's controller from now on."""
    folder = tmp_path_factory.mktemp("jobset")
    with present_or_skip(lambda: JobSetController(real_kubernetes, folder)):
        yield real_kubernetes


@pytest.fixture(scope="module")
def real_trainer(
    real_jobset: KubernetesCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Trainer]:
    """The control plane with JobSet's controller, and Trainer's for one module of tests."""
    folder = tmp_path_factory.mktemp("trainer")
    with present_or_skip(lambda: Trainer(cluster=real_jobset, folder=folder)) as trainer:
        yield trainer


# Every fixture above.
_REAL = frozenset(name for name, one in globals().items() if isinstance(one, type(real_kubernetes)))


@pytest.hookimpl(tryfirst=True)  # before `-m` evaluates the markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that use a real part, directly or through another fixture."""
    for item in items:
        if _REAL.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.real)


def present_or_skip(find: Callable[[], T]) -> T:
    """Return what `find` returns. If it is missing, skip the test, or fail it in CI."""
    try:
        return find()
    except (MissingPartError, NeedError, FileNotFoundError) as error:
        reason = f"a real part is missing: {error}"
        if os.environ.get("CI"):
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)


def _existing(program: Path) -> Path:
    if not program.is_file():
        raise MissingPartError(f"no {program}; {HOW_TO_GET.format(part='helm')}")
    return program
