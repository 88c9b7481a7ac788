"""Range queries, fetched by a child process with a blocking client: large results never hold up this process."""

import asyncio
import ssl
import sys
from datetime import datetime, timedelta

import msgspec

from collectors.facts.results import Series, SourceError
from collectors.facts.sentences import listed, said_by, sentence
from collectors.sources.prometheus import wire
from collectors.sources.prometheus.errors import Failure, check_response, too_large, without_secrets
from collectors.sources.prometheus.options import PrometheusOptions
from collectors.sources.prometheus.range_messages import RangeReply, RangeRequest

_START = 10.0  # seconds until a new child reads its first request
_CHILD = (sys.executable, "-P", "-m", "collectors.sources.prometheus.range_child")
_reply = msgspec.json.Decoder(RangeReply)


class RangeReader:
    """Fetches ranges one after another. The child starts with the first, and is killed with one that is cancelled."""

    def __init__(self, options: PrometheusOptions) -> None:
        self.where = without_secrets(options.url)
        self.options = options
        self._child: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()

    async def fetch(
        self, expr: str, *, start: datetime, end: datetime, step: timedelta
    ) -> tuple[Series, ...]:
        """Evaluate the expression at `start`, `start + step` and so on up to `end`.

        Raises SourceError; TooLargeError when the response exceeds a cap, and a shorter range may not.
        """
        limit = self.options.timeout
        form = {
            "query": expr,
            "start": f"{start.timestamp():.3f}",
            "end": f"{end.timestamp():.3f}",
            "step": f"{step.total_seconds():g}",
            "timeout": f"{limit.total_seconds():g}s",
        }
        async with self._lock:
            try:
                async with asyncio.timeout(limit.total_seconds() + _START):
                    body = await self._exchange(form)
            except TimeoutError:
                await self.close()
                raise Failure.TIMEOUT.error(self.where, limit=limit.total_seconds()) from None
            except asyncio.CancelledError:
                await self.close()
                raise
        try:
            return await self._series(body)
        except SourceError as error:
            said = listed((self.where, said_by(error)), ":")
            raise type(error)(said, temporary=error.temporary) from error

    async def close(self) -> None:
        """Kill the child."""
        child, self._child = self._child, None
        if child is None:
            return
        if child.returncode is None:
            child.kill()
        await child.communicate()  # until its pipes are closed

    async def _exchange(self, form: dict[str, str]) -> bytes:
        request = self._request(form)
        child = self._child or await asyncio.create_subprocess_exec(
            *_CHILD,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,  # a traceback could show a secret
        )
        self._child = child
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            child.stdin.write(msgspec.json.encode(request) + b"\n")
            await child.stdin.drain()
            reply = _reply.decode(await child.stdout.readline())
            body = await child.stdout.readexactly(reply.size)
        except (OSError, EOFError, msgspec.DecodeError) as failure:
            await self.close()
            raise SourceError(
                sentence(
                    "the process that fetches ranges from {where} ended unexpectedly (status {status})",
                    where=self.where,
                    status=str(child.returncode),
                )
            ) from failure
        self._check(reply, body)
        return body

    def _check(self, reply: RangeReply, body: bytes) -> None:
        """Raise SourceError unless it is the response that was asked for."""
        if reply.is_too_large:
            raise too_large(self.where, self.options.byte_cap)
        if reply.failure:
            raise Failure[reply.failure].error(self.where, limit=self.options.timeout.total_seconds())
        if reply.raised:
            raise SourceError(
                sentence("the request to {where} failed: {name}", where=self.where, name=reply.raised)
            )
        check_response(self.where, reply.status, reply.content_type, body)

    def _request(self, form: dict[str, str]) -> RangeRequest:
        options = self.options
        system = ssl.get_default_verify_paths()
        try:
            credentials = options.credentials()
        except OSError as failure:
            raise SourceError(
                sentence(
                    "{file} cannot be read: {reason}",
                    file=failure.filename,
                    reason=failure.strerror or type(failure).__name__,
                )
            ) from failure
        return RangeRequest(
            url=str(options.endpoint("api/v1/query_range")),
            headers={**options.headers, **credentials},
            form=form,
            verify=options.ca_file or (not options.insecure and (system.cafile or system.capath or True)),
            cert_file=options.cert_file,
            key_file=options.key_file,
            proxy_url=options.proxy_url,
            connect_timeout=options.connect_timeout.total_seconds(),
            timeout=options.timeout.total_seconds(),
            byte_cap=options.byte_cap,
        )

    async def _series(self, body: bytes) -> tuple[Series, ...]:
        found: list[Series] = []
        for one in wire.ranges(body, cap=self.options.series_cap):
            found.append(one)
            await asyncio.sleep(0)
        return tuple(found)
