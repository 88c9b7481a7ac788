"""The client of one Kubernetes API server, shared by the source and the cluster writer."""

import asyncio
import os
import ssl
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import yaml
from multidict import CIMultiDict

from collectors.capped_body import capped_body
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence
from collectors.sources.kubernetes.api_status import KubernetesError, error_of, error_text

if TYPE_CHECKING:  # the library is loaded where a cluster is connected: without one it takes no memory
    from kubernetes.aio.client import ApiClient, Configuration

_BROKEN = (aiohttp.ClientError, asyncio.TimeoutError, OSError, ssl.SSLError)
_NO_ACCOUNT = sentence(
    "this is not a pod with a service account: set kubernetes.kubeconfig, "
    "or write `kubernetes: null` to leave the cluster's API out"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesOptions:
    """The API server, the credentials and the limits. Without `kubeconfig` and `context`: the pod's service account."""

    kubeconfig: str = ""
    context: str = ""
    timeout: timedelta = timedelta(seconds=10)
    byte_cap: int = 64 << 20  # of one response; lists come in pages
    connections: int = 64  # at once; more calls wait for one
    user_agent: str = "yardmaster"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesRequest:
    """One request to the API server; `body` must be serializable as JSON."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


class KubernetesClient:
    """Two connection pools, for calls and for watches, with one configuration. Create it inside the running loop.

    Watches have their own pool, because each holds a connection while it runs, and an exhausted pool makes the next
    call wait silently.
    """

    def __init__(self, settings: KubernetesOptions, configuration: "Configuration") -> None:
        from kubernetes.aio.client import ApiClient

        self.settings = settings
        configuration.client_session_kwargs = _session_options(configuration)
        self.api = ApiClient(configuration)
        self.watches = ApiClient(configuration)
        self.api.user_agent = self.watches.user_agent = settings.user_agent
        self.where = _without_secrets(str(configuration.host))
        self._configuration = configuration
        self._reloading = asyncio.Lock()

    @classmethod
    async def connect(cls, settings: KubernetesOptions) -> "KubernetesClient":
        """Read the credentials, without a request. Raises SourceError when they are missing or invalid."""
        from kubernetes.aio.client import Configuration

        configuration = Configuration(connection_pool_maxsize=settings.connections)
        await _load(settings, configuration)
        try:
            return cls(settings, configuration)
        except (OSError, ssl.SSLError) as failure:
            raise SourceError(
                sentence(
                    "the certificates in {config} cannot be used: {failure}",
                    config=_source_of(settings),
                    failure=said_by(failure),
                ),
                temporary=False,
            ) from failure

    async def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: object = None,
        content_type: str = "",
        headers: Iterable[tuple[str, str]] = (),
        timeout: timedelta | None = None,
    ) -> bytes:
        """Send a request and return the response's body. Raises KubernetesError, or SourceError without a response.

        Only a request rejected with 401 is repeated, once, after reading the credentials again.
        """
        request = KubernetesRequest(
            method=method,
            path=path,
            params=params or {},
            body=body,
            content_type=content_type or "application/json",
            headers=tuple(headers),
        )
        limit = (timeout or self.settings.timeout).total_seconds()
        for is_retry in (False, True):
            try:
                async with asyncio.timeout(limit):
                    response = await self.open(self.api, request, seconds=limit)
                    async with response:
                        answer = await self._whole(response)
            except _BROKEN as failure:
                raise SourceError(error_text(failure, self.where, limit)) from failure
            if response.status < 300:
                return answer
            if response.status == 401 and not is_retry:
                await self.reload()
                continue
            raise error_of(response.status, answer, response.headers, self.where, f"{method} {path}")
        raise AssertionError("unreachable")

    async def open(
        self, api: "ApiClient", request: KubernetesRequest, *, seconds: float
    ) -> aiohttp.ClientResponse:
        """Send a request and return the response, its body unread; the caller closes it. Raises aiohttp's errors."""
        headers = await self._headers(api, request)
        query = f"?{urlencode(request.params)}" if request.params else ""
        url = str(api.configuration.host).rstrip("/") + request.path + query
        answer = await api.rest_client.request(  # type: ignore[no-untyped-call]
            request.method, url, headers=headers, body=request.body, _request_timeout=seconds
        )
        response: aiohttp.ClientResponse = answer.response
        return response

    async def websockets(
        self, method: str, path: str, headers: tuple[tuple[str, str], ...]
    ) -> tuple[aiohttp.ClientSession, CIMultiDict[str]]:
        """Return the session of the calls and the headers with the credentials, to open a websocket with."""
        rest = self.api.rest_client
        if rest.pool_manager is None:
            rest.pool_manager = rest._create_pool_manager()
        request = KubernetesRequest(method=method, path=path, headers=headers)
        return rest.pool_manager, await self._headers(self.api, request)

    async def _headers(self, api: "ApiClient", request: KubernetesRequest) -> CIMultiDict[str]:
        plain: dict[str, str] = {"Accept": "application/json", **api.default_headers}
        await api.update_params_for_auth(
            plain, [], ["BearerToken"], request.path, request.method, request.body
        )
        headers: CIMultiDict[str] = CIMultiDict(plain)
        headers["Content-Type"] = request.content_type
        for name, value in request.headers:
            if any(sign in value for sign in "\r\n\0"):
                raise ValueError(f"the header {name} must not contain a line break")
            if name == "Impersonate-Group":  # the only one that may repeat
                headers.add(name, value)
            else:
                headers[name] = value
        return headers

    async def reload(self) -> None:
        """Read tokens and exec credentials again; after a failure the old ones stay, and the next 401 shows it."""
        async with self._reloading:
            with suppress(SourceError):
                await _load(self.settings, self._configuration)

    async def close(self) -> None:
        await self.api.close()  # type: ignore[no-untyped-call]
        await self.watches.close()  # type: ignore[no-untyped-call]

    async def _whole(self, response: aiohttp.ClientResponse) -> bytes:
        body = await capped_body(response, self.settings.byte_cap)
        if body is None:
            raise SourceError(
                sentence(
                    "{where} answered one request with more than {cap} MiB",
                    where=self.where,
                    cap=self.settings.byte_cap >> 20,
                ),
                temporary=False,
            )
        return body


async def _load(settings: KubernetesOptions, configuration: "Configuration") -> None:
    from kubernetes.aio.config import ConfigException, load_incluster_config, load_kube_config

    if settings.kubeconfig and not _exists(settings.kubeconfig):
        raise SourceError(
            sentence("the kubeconfig {kubeconfig} does not exist", kubeconfig=settings.kubeconfig),
            temporary=False,
        )
    try:
        if settings.kubeconfig or settings.context:
            await load_kube_config(  # type: ignore[no-untyped-call]
                config_file=settings.kubeconfig or None,
                context=settings.context or None,
                client_configuration=configuration,
                persist_config=False,
            )
        else:
            load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]
    except yaml.YAMLError as failure:
        raise SourceError(
            sentence(
                "{config} is not YAML: {failure}", config=_source_of(settings), failure=said_by(failure)
            ),
            temporary=False,
        ) from failure
    except (ConfigException, OSError, ValueError, KeyError, TypeError, AttributeError) as failure:
        if not (settings.kubeconfig or settings.context):
            raise SourceError(_NO_ACCOUNT, temporary=False) from failure
        reason = (str(failure) or type(failure).__name__).rstrip(".")
        raise SourceError(
            sentence(
                "{config}: {reason}; check the file and the context's name",
                config=_source_of(settings),
                reason=reason,
            ),
            temporary=False,
        ) from failure


def _session_options(configuration: "Configuration") -> dict[str, object]:
    """Return how the sessions are made, also those of websockets: with the proxy of the kubeconfig, or the environment.

    The environment is read here: aiohttp would read it for each request, in another thread. It would also send the
    passwords of ~/.netrc, which are not for this server.
    """
    return {
        "trust_env": False,
        "proxy": configuration.proxy or _proxy_of_environment(str(configuration.host)),
    }


def _proxy_of_environment(url: str) -> str | None:
    parts = urlsplit(url)
    if not parts.hostname or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def _exists(kubeconfig: str) -> bool:
    """Return whether one of the files is there: as in kubectl, several are separated by colons."""
    return any(Path(one).expanduser().exists() for one in kubeconfig.split(os.pathsep))


def _source_of(settings: KubernetesOptions) -> str:
    if settings.kubeconfig or settings.context:
        return settings.kubeconfig or sentence(
            "context {context} of the default kubeconfig", context=settings.context
        )
    return sentence("the pod's service account")


def _without_secrets(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


__all__ = ["KubernetesClient", "KubernetesError", "KubernetesOptions"]
