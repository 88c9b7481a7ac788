"""A real Prometheus server on loopback with its own configuration and data folder."""

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
    """Return the path of `prometheus`. Raises MissingPartError."""
    return find_program("prometheus", get_it=_GET_IT)


def find_promtool() -> Path:
    """Return the path of `promtool`. Raises MissingPartError."""
    return find_program("promtool", get_it=_GET_IT)


def import_openmetrics(samples: Path, folder: Path) -> None:
    """Import an OpenMetrics file as blocks into the data of the server that will run in `folder`.

    Call it before the server starts. The file ends with `# EOF` and gives each sample a Unix timestamp in seconds.
    Blocks of two hours are written, so a week of minutes for a thousand series takes a while and some memory.
    Raises PartError with promtool's message when the file is not OpenMetrics.
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
    """A Prometheus that listens on 127.0.0.1 for the duration of a `with` or `async with` block.

    Configuration (`prometheus.yml`), data (`data/`) and log (`prometheus.log`) are in `folder`; existing data is
    used. Relative paths in `config`, such as rule files, are relative to `folder`.
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
        """The log file."""
        return self._program.log

    @property
    def is_running(self) -> bool:
        """False before the start and after the process ended for any reason."""
        return self._child.is_running

    def start(self) -> None:
        """Start it and return when it answers queries. Raises PartError, with its log, for an invalid `config`."""
        self.launch()
        self.wait_until_ready()

    def launch(self) -> None:
        """Start the process without waiting: the first half of `start`."""
        self._config_file.parent.mkdir(parents=True, exist_ok=True)
        self._config_file.write_text(self._config, encoding="utf-8")
        self._child = Child(self._program)
        self._child.start()

    def wait_until_ready(self) -> None:
        """Wait until it answers queries: the second half of `start`. May run in another thread."""
        try:
            self._child.wait_until_ready(lambda: answers(f"{self.url}/-/ready"), limit=_READY_WITHIN)
        except PartError:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop it. Its data stays in the folder, and it may be started again."""
        self._child.stop()

    def reload_blocking(self, config: str | None = None) -> None:
        """Reload the configuration, after replacing it with `config` if given.

        Raises PartError when Prometheus rejects it; the previous configuration then stays in effect.
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
                message = refusal.read().decode(errors="replace").strip()
            raise PartError(
                f"Prometheus rejected the configuration {self._config_file}: {message}"
            ) from refusal
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
        # Started here and not in the thread: the kernel kills a child when the thread that started it ends.
        self.launch()
        try:
            await asyncio.to_thread(self.wait_until_ready)
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(self.stop))
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.shield(asyncio.to_thread(self.stop))
