"""The store back ends. To add one, add a file and a line here."""

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.backends.backend import Backend
from bot.store.backends.postgresql import Postgresql
from bot.store.backends.sqlite import Sqlite

BACKENDS: tuple[type[Backend], ...] = (Sqlite, Postgresql)
DATABASE_ERRORS: tuple[type[Exception], ...] = (
    DBAPIError,
    OSError,
    *(error for one in BACKENDS for error in one.errors),
)


def backend_of(url: str) -> Backend:
    """Return the back end of a store's URL. Raises ValueError for an unknown one; `check` says whether it is usable."""
    try:
        scheme = make_url(url).get_backend_name()
    except Exception as error:
        raise ValueError(f"store.url is not a database URL: write it like {BACKENDS[0].example}") from error
    for one in BACKENDS:
        if one.scheme == scheme:
            return one(url)
    use = " or ".join(one.example.partition(":")[0] for one in BACKENDS)
    raise ValueError(f"store.url names {scheme}: use {use}")


def engine_of(backend: Backend, *, reads: bool = False) -> AsyncEngine:
    """Return its engine. Raises ValueError if the driver that the URL names cannot be used."""
    try:
        return backend.engine(reads=reads)
    except (SQLAlchemyError, ImportError) as error:
        raise ValueError(
            f"the driver of store.url ({make_url(backend.url).drivername}) cannot be used: "
            f"write it like {backend.example}, with that driver installed"
        ) from error
