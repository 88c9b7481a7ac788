"""The files and folders that settings name: whether they are there, and hold what they should."""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from bot.settings.identity_types import token_error
from bot.settings.locations import KeyPath
from bot.settings.schema import Settings
from bot.settings.secrets import Secret, SecretError
from bot.store.backends.backend_catalogue import backend_of

CERTIFICATES = frozenset({"ca_file", "cert_file", "key_file"})


def unreadable_files(section: BaseModel, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yield the errors of the files named for tokens, passwords and certificates, each with its setting."""
    for name, value in section:
        here = (*path, name)
        if isinstance(value, BaseModel):
            yield from unreadable_files(value, here)
        elif isinstance(value, tuple | dict):
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            for key, one in inner:
                if isinstance(one, BaseModel):
                    yield from unreadable_files(one, (*here, key))
        elif name.endswith("_file") and value:
            try:
                content = Secret(file=Path(value), has_lines=name in CERTIFICATES)()
            except SecretError as error:
                yield here, str(error)
                continue
            is_slack = name in ("bot_token_file", "app_token_file")
            if is_slack and (wrong := token_error(content, is_app=name == "app_token_file")):
                yield here, wrong


def store_folder(settings: Settings) -> Iterator[tuple[KeyPath, str]]:
    """Yield an error when the folder of the store's file is not there."""
    file = backend_of(settings.store.url).file
    if file is not None and not file.parent.is_dir():
        yield ("store", "url"), f"the folder {file.parent} does not exist: create it"
