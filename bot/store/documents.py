"""This file turns rows into documents and back: JSON, with our labels and with values that are not numbers."""

import json
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec

from bot.store.schema import Row, TableDefinition
from collectors.facts.labels import Labels


def encode(table: TableDefinition[Row], row: Row) -> str:
    """The row as JSON. NaN and infinities are written as Python's json does, for JSON has no word for them."""
    if all(isfinite(value) for value in table.floats(row)):
        return _encoder.encode(row).decode()
    return json.dumps(msgspec.to_builtins(row, enc_hook=_plain), ensure_ascii=False)


def decode(table: TableDefinition[Row], document: str) -> Row:
    """The row of a document. Raises msgspec.ValidationError when it is not one of this table."""
    try:
        row: Row = _decoder(table.row).decode(document)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # NaN or an infinity
        row = msgspec.convert(json.loads(document), type=table.row, dec_hook=_ours)
    return row


def _plain(value: Any) -> Any:
    if isinstance(value, Labels):
        return dict(value)
    raise NotImplementedError(f"a {type(value).__name__} cannot be kept")


def _ours(type_: type, value: Any) -> Any:
    if type_ is Labels:
        return Labels(value)
    raise NotImplementedError(f"a {type_.__name__} cannot be read back")


_encoder = msgspec.json.Encoder(enc_hook=_plain)


@lru_cache(maxsize=64)
def _decoder(row: type[Row]) -> msgspec.json.Decoder[Row]:
    return msgspec.json.Decoder(row, dec_hook=_ours)
