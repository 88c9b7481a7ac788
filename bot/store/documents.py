"""Rows as JSON documents, including Labels and floats that JSON does not have."""

import json
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec

from alerts.store import Row, TableDefinition
from collectors.facts.labels import Labels


def encode(table: TableDefinition[Row], row: Row) -> str:
    """Return the row as JSON. NaN and infinities are written as Python's json does, because JSON has none."""
    if all(isfinite(value) for value in table.floats(row)):
        return _encoder.encode(row).decode()
    return json.dumps(msgspec.to_builtins(row, enc_hook=_encode_labels), ensure_ascii=False)


def decode(table: TableDefinition[Row], document: str) -> Row:
    """Return the row of a document. Raises msgspec.ValidationError if it is not a row of this table."""
    try:
        row: Row = _decoder(table.row).decode(document)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:  # NaN or an infinity
        row = msgspec.convert(json.loads(document), type=table.row, dec_hook=_decode_labels)
    return row


def _encode_labels(value: Any) -> Any:
    if isinstance(value, Labels):
        return dict(value)
    raise NotImplementedError(f"cannot encode a {type(value).__name__}")


def _decode_labels(type_: type, value: Any) -> Any:
    if type_ is Labels:
        return Labels(value)
    raise NotImplementedError(f"cannot decode a {type_.__name__}")


_encoder = msgspec.json.Encoder(enc_hook=_encode_labels)


@lru_cache(maxsize=64)
def _decoder(row: type[Row]) -> msgspec.json.Decoder[Row]:
    return msgspec.json.Decoder(row, dec_hook=_decode_labels)
