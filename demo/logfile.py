"""This file keeps the log of the demo out of the terminal, in which a person reads what happens in the cluster."""

import logging
from pathlib import Path

import structlog


def log_to(file: Path) -> None:
    """Send everything that is logged in this process, by us and by libraries, to the end of a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=file,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        level=logging.INFO,
        force=True,
    )
    logging.getLogger("aiohttp.access").setLevel(logging.WARNING)  # every scrape and call of the look-alikes
    structlog.configure(
        processors=[
            structlog.processors.format_exc_info,
            structlog.stdlib.render_to_log_kwargs,
            structlog.processors.EventRenamer("msg"),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
