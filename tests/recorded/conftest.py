"""One Prometheus for all recorded clusters: their series are imported before it starts."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from demo.parts.prometheus import PrometheusServer, import_openmetrics
from tests.recorded.table import EPISODES
from tests.support.recorded_episodes import Episode

_DECADE = timedelta(days=3650)


@pytest.fixture(scope="session")
def recordings(promtool_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrometheusServer]:
    """A Prometheus with the series of every episode of the table."""
    with served(EPISODES.values(), tmp_path_factory.mktemp("recordings")) as server:
        yield server


@contextmanager
def served(episodes: Iterable[Episode], folder: Path) -> Iterator[PrometheusServer]:
    """Serve the series of these episodes."""
    for one in episodes:
        samples = folder / "samples.om"
        with samples.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in one.cluster.openmetrics())
            file.write("# EOF\n")
        import_openmetrics(samples, folder)
    with PrometheusServer(config="global: {}\n", folder=folder, retention=_DECADE) as server:
        yield server
