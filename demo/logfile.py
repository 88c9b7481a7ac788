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
    for chatty in ("aiohttp.access", "alembic", "apscheduler", "elastic_transport"):  # a line for each call
        logging.getLogger(chatty).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(key_order=["event"]),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
