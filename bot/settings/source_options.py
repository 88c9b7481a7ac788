"""Options of the sources, from the settings: addresses, credentials and timeouts."""

from collections.abc import Callable
from datetime import timedelta

from bot.settings.section import BasicAuth, secret
from bot.settings.source_settings import ElasticsearchSettings, PrometheusSettings
from collectors.cluster.cache import ReflectorTiming
from collectors.facts.redaction import Redactor
from collectors.sources.elasticsearch.options import Credentials, ElasticsearchOptions, fields_with
from collectors.sources.prometheus.dialects.families import Role
from collectors.sources.prometheus.exporters import UNEXPOSED
from collectors.sources.prometheus.options import PrometheusOptions


def reflector_timing(stale_after: timedelta) -> ReflectorTiming:
    """Return the watch timing, short enough that a quiet cluster never counts as unreachable."""
    default, seconds = ReflectorTiming(), stale_after.total_seconds()
    return ReflectorTiming(
        watch=min(default.watch, seconds * 0.4),
        grace=min(default.grace, seconds * 0.2),
        longest_wait=min(default.longest_wait, seconds * 0.3),
        refused_wait=min(default.refused_wait, seconds * 0.6),  # an absent kind is asked for again before
    )


def prometheus_options(settings: PrometheusSettings) -> PrometheusOptions:
    authorization = settings.authorization
    token = secret(authorization.credentials, authorization.credentials_file) if authorization else None
    kind = authorization.type if authorization else ""
    basic = settings.basic_auth
    tls = settings.tls_config
    return PrometheusOptions(
        url=settings.url,
        headers={name: value.get_secret_value() for name, value in settings.http_headers.items()},
        params=settings.params,
        authorization=(lambda: f"{kind} {token()}") if token else None,
        basic_auth=_login(basic) if basic else None,
        ca_file=tls.ca_file,
        cert_file=tls.cert_file,
        key_file=tls.key_file,
        insecure=tls.insecure_skip_verify,
        proxy_url=settings.proxy_url.get_secret_value() if settings.proxy_url else "",
        timeout=settings.timeout,
        stale_after=settings.stale_after,
        labels={
            exporter: {
                Role(role): (names,) if isinstance(names, str) else names for role, names in labels.items()
            }
            for exporter, labels in settings.labels.items()
        },
        matchers=settings.matchers,
        unexposed=frozenset(name for name, word in UNEXPOSED.items() if word in settings.unexposed),
        series_cap=settings.series_cap,
        byte_cap=settings.byte_cap,
    )


def _login(basic: BasicAuth) -> Callable[[], tuple[str, str]]:
    password = secret(basic.password, basic.password_file)
    return lambda: (basic.username, password() if password else "")


def elasticsearch_options(settings: ElasticsearchSettings, redact: Redactor) -> ElasticsearchOptions:
    urls = (settings.url,) if isinstance(settings.url, str) else settings.url
    own = {word: (names,) if isinstance(names, str) else names for word, names in settings.fields.items()}
    key = secret(settings.api_key, settings.api_key_file)
    basic = settings.basic_auth
    login = _login(basic) if basic else None

    def credentials() -> Credentials | None:
        if key is not None:
            return Credentials(api_key=key())
        if login is not None:
            name, password = login()
            return Credentials(username=name, password=password)
        return None

    return ElasticsearchOptions(
        urls=urls,
        index=settings.index,
        fields=fields_with(own),
        credentials=credentials,
        ca_file=settings.ca_file,
        timeout=settings.timeout,
        lag=settings.lag,
        stale_after=settings.stale_after,
        redact=redact.clean,
    )
