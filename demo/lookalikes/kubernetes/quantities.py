"""Resource quantities (`500m`, `16Gi`, `1e3`), parsed into exact numbers and written back."""

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(Ki|Mi|Gi|Ti|Pi|Ei|n|u|m|k|M|G|T|P|E|[eE][+-]?\d+)?")
_SCALES: dict[str, Decimal] = {
    "": Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    **{sign: Decimal(1000) ** power for power, sign in enumerate("kMGTPE", start=1)},
    **{f"{sign}i": Decimal(1024) ** power for power, sign in enumerate("KMGTPE", start=1)},
}


@lru_cache(maxsize=4096)
def quantity(text: str | int | float) -> Decimal:
    """Return the number of a quantity. Raises ValueError for what the real server refuses."""
    found = _QUANTITY.fullmatch(str(text))
    if found is None:
        raise ValueError(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        )
    digits, unit = found[1], found[2] or ""
    try:
        if unit[:1] in ("e", "E") and len(unit) > 1:
            return Decimal(digits) * Decimal(10) ** int(unit[1:])
        return Decimal(digits) * _SCALES[unit]
    except InvalidOperation as error:
        raise ValueError(f"unable to parse quantity's digits: {text}") from error


def milli(text: str | int | float) -> int:
    """Return a quantity in thousandths, rounded up, as the scheduler counts CPU."""
    return -int(-(quantity(text) * 1000) // 1)


def plain(number: Decimal) -> str:
    """Return the number as a quantity without a unit, or in thousandths when it is not whole."""
    return str(int(number)) if number == int(number) else f"{int(number * 1000)}m"
