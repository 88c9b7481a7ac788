"""Bodies of answers, read whole up to a cap."""

import aiohttp


async def capped_body(response: aiohttp.ClientResponse, cap: int) -> bytes | None:
    """Return the whole body; None if it has more than `cap` bytes, which applies to what was decompressed."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        parts.append(part)
        size += len(part)
        if size > cap:
            return None
    return b"".join(parts)
