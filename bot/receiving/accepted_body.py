"""The body of accepted alerts, as the inbox keeps it."""

from datetime import datetime
from typing import Any

import msgspec

from alerts.received import ReceivedAlert
from collectors.facts.labels import Labels


class AcceptedBody(msgspec.Struct):
    """Alerts that came together."""

    at: datetime  # when it was accepted: alerts that stand then did, however much later this is read
    alerts: list[ReceivedAlert]


def _from_labels(value: Any) -> Any:
    if isinstance(value, Labels):
        return dict(value)
    raise NotImplementedError(f"cannot encode a {type(value).__name__}")


def _to_labels(type_: type, value: Any) -> Any:
    if type_ is Labels:
        return Labels(value)
    raise NotImplementedError(f"cannot decode a {type_.__name__}")


encode_body = msgspec.json.Encoder(enc_hook=_from_labels).encode
decode_body = msgspec.json.Decoder(AcceptedBody, dec_hook=_to_labels).decode
