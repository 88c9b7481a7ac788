"""This file runs a real Prometheus server on loopback, with a configuration and a data folder of its own."""

import asyncio
import subprocess
import urllib.error
import urllib.request
from datetime import timedelta
from pathlib import Path
from typing import Self

from demo.parts.processes import Child, PartError, Program, answers, find_program, free_port

_GET_IT = "install the Debian package prometheus (`python3 tests/real/parts/install.py --demo` does)"
_READY_WITHIN = timedelta(seconds=60)  # replaying a large write-ahead log on a busy machine
_RELOAD_WITHIN = timedelta(seconds=30)
_IMPORT_WITHIN = timedelta(minutes=10)


def find_prometheus() -> Path:
    """Where `prometheus` is. Raises MissingPartError."""
    return find_program("prometheus", get_it=_GET_IT)


def find_promtool() -> Path:
    """Where `promtool` is. Raises MissingPartError."""
    return find_program("promtool", get_it=_GET_IT)


def import_openmetrics(samples: Path, folder: Path) -> None:
    """Write the samples of an OpenMetrics file as blocks into the data of the server that will run in `folder`.

    Do it before that server starts. The file ends with `# EOF` and gives each sample a time, in seconds since 1970.
    Blocks of two hours are written, so a week of minutes for a thousand series takes a while and some memory.
    Raises PartError with promtool's own words when the file is not OpenMetrics.
    """
    target = folder / "data"
    target.mkdir(parents=True, exist_ok=True)
    command = (find_promtool(), "tsdb", "create-blocks-from", "openmetrics", "--quiet", samples, target)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_IMPORT_WITHIN.total_seconds(), check=False
        )
    except subprocess.TimeoutExpired as error:
        raise PartError(f"promtool did not import {samples} within {_IMPORT_WITHIN}") from error
    if done.returncode != 0:
        raise PartError(f"promtool did not import {samples}: {(done.stderr or done.stdout).strip()}")


class PrometheusServer:
    """A Prometheus that listens on 127.0.0.1 for the length of a `with` or `async with` block.

    It keeps its configuration (`prometheus.yml`), its data (`data/`) and its log (`prometheus.log`) in `folder`,
    and goes on with the data that it finds there. Relative paths in `config`, such as rule files, start in `folder`.
    """

    def __init__(
        self,
        *,
        config: str,
        folder: Path,
        retention: timedelta = timedelta(days=15),
        port: int | None = None,
        flags: tuple[str, ...] = (),
    ) -> None:
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self._config = config
        self._config_file = folder / "prometheus.yml"
        argv = (
            f"--config.file={self._config_file}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--storage.tsdb.retention.time={max(1, int(retention.total_seconds()))}s",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--web.enable-lifecycle",
            *flags,
        )
        self._program = Program(
            name="Prometheus",
            argv=(str(find_prometheus()), *argv),
            log=folder / "prometheus.log",
        )
        self._child = Child(self._program)

    @property
    def log(self) -> Path:
        """Where it writes what it has to say."""
        return self._program.log

    @property
    def is_running(self) -> bool:
        """False before the start, and after it ended for whatever reason."""
        return self._child.is_running

    def start(self) -> None:
        """Start it and return when it answers queries. Raises PartError, with its log, for a bad `config`."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        """The first half of `start`: does not wait."""
        self._config_file.parent.mkdir(parents=True, exist_ok=True)
        self._config_file.write_text(self._config, encoding="utf-8")
        self._child = Child(self._program)
        self._child.start()

    def wait_until_ready(self) -> None:
        """The second half of `start`; may run in another thread."""
        try:
            self._child.wait_until_ready(lambda: answers(f"{self.url}/-/ready"), limit=_READY_WITHIN)
        except PartError:
            self.stop()
            raise

    def stop(self) -> None:
        """End it; what it scraped stays in its folder. It may be started again."""
        self._child.stop()

    def reload_blocking(self, config: str | None = None) -> None:
        """Read the configuration again, after replacing it by `config` if given.

        Raises PartError when Prometheus refuses it; it then goes on with the one that it had.
        """
        if config is not None:
            self._config_file.write_text(config, encoding="utf-8")
        request = urllib.request.Request(f"{self.url}/-/reload", data=b"", method="POST")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=_RELOAD_WITHIN.total_seconds()):
                pass
        except urllib.error.HTTPError as refusal:
            with refusal:
                said = refusal.read().decode(errors="replace").strip()
            raise PartError(f"Prometheus refused the configuration {self._config_file}: {said}") from refusal
        except OSError as error:
            raise PartError(f"Prometheus at {self.url} did not answer the reload: {error}") from error
        if config is not None:
            self._config = config

    async def reload(self, config: str | None = None) -> None:
        """`reload_blocking` for asyncio."""
        await asyncio.to_thread(self.reload_blocking, config)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        # Started here and not in the thread: the kernel ends a child with the thread that started it.
        self.launch()
        try:
            await asyncio.to_thread(self.wait_until_ready)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self.stop))
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.shield(asyncio.to_thread(self.stop))
