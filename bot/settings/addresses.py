"""Addresses in the settings: each is checked where a setting is declared, and its error says how to write it."""

import re
from typing import Annotated

from pydantic import AfterValidator, SecretStr
from yarl import URL

from alerts.loading.node_reader import did_you_mean
from bot.settings.json_shapes import shaped
from bot.store.backends.backend_catalogue import backend_of, engine_of
from collectors.facts.subjects import WORDS

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_URL = r"^https?://[^\s/]+"
_LISTEN_SHAPE = r"^[^/\s]*:[0-9]{1,5}$"


def _address(value: str) -> str:
    """Check the address of a server. It may contain a password, which no error shows."""
    shown = re.sub(r"[^/@]*@", "", value)
    if not value.strip():
        raise ValueError("is empty: write an address such as http://server.example:9090")
    if "://" not in value:
        raise ValueError(f"`{shown}` has no scheme: write http://{shown} or https://{shown}")
    try:
        url = URL(value)
    except ValueError:
        raise ValueError(f"`{shown}` is not an address: write it like http://server.example:9090") from None
    if url.scheme not in ("http", "https"):
        raise ValueError(f"`{url.scheme}` is not a scheme of a server here: use http or https")
    if not url.host:
        raise ValueError(f"`{shown}` names no host: write it like http://server.example:9090")
    return value


def _address_without_login(value: str) -> str:
    url = URL(_address(value))
    if url.user is not None or url.password is not None:
        raise ValueError(f"the address of {url.host} has a user or password: use basic_auth or api_key_file")
    return value


def _secret_address(value: SecretStr) -> SecretStr:
    _address(value.get_secret_value())
    return value


def _optional_address(value: str) -> str:
    return _address(value) if value else value


def _store_url(value: str) -> str:
    try:
        backend = backend_of(value)
        engine_of(backend)
        backend.check()
    except ValueError as error:
        raise ValueError(str(error).replace("store.url", "it")) from None
    return value


def _listen(value: str) -> str:
    host, colon, port = value.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ValueError(
            f"`{value}` is not an address and a port: write it like 127.0.0.1:9099 or 0.0.0.0:9099"
        )
    if "/" in host or " " in host:
        raise ValueError(f"`{value}` has more than an address and a port: write it like 127.0.0.1:9099")
    return value


def _link(value: str) -> str:
    known = (*WORDS, "query")  # alerts/cards/query_links.py
    for word in _PLACEHOLDER.findall(value):
        if word not in known:
            near = did_you_mean(word, known) or f"; known are {', '.join(known)}"
            raise ValueError(f"`{{{word}}}` is not a word of a subject{near}")
    _address(_PLACEHOLDER.sub("x", value))
    return value


Address = Annotated[str, AfterValidator(_address), shaped(_URL)]
OptionalAddress = Annotated[str, AfterValidator(_optional_address), shaped(f"^$|{_URL}")]
AddressWithoutLogin = Annotated[str, AfterValidator(_address_without_login), shaped(_URL)]
SecretAddress = Annotated[SecretStr, AfterValidator(_secret_address), shaped(_URL)]
StoreUrl = Annotated[str, AfterValidator(_store_url)]
ListenAddress = Annotated[str, AfterValidator(_listen), shaped(_LISTEN_SHAPE)]
Link = Annotated[str, AfterValidator(_link)]
