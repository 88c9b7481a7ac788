"""Opening of the webhooks of the settings: one session, and an endpoint for each channel."""

import ssl
from collections.abc import Sequence
from functools import partial

from alerts.cards.channel_id import channel_id
from bot.channels.heartbeats import Heartbeat
from bot.channels.http_posting import a_session
from bot.channels.open_channel import ChannelDependencies, OpenChannel
from bot.channels.webhook.notifier import WebhookEndpoint, WebhookNotifier
from bot.settings.channels import WebhookSettings
from bot.settings.schema import Settings
from bot.settings.section import TlsConfig, login_header, secret
from collectors.facts.findings import Finding, broken, ok
from collectors.facts.results import SourceError
from collectors.facts.sentences import said_by, sentence


async def open_webhooks(settings: Settings, dependencies: ChannelDependencies) -> OpenChannel | None:
    """Open the webhooks. Raises ValueError for certificates that cannot be used."""
    endpoints = {
        name: endpoint_of(name, one.webhook)
        for name, one in settings.channels.items()
        if one.webhook is not None
    }
    if not endpoints:
        return None
    session = await dependencies.stack.enter_async_context(a_session())
    notifier = WebhookNotifier(session, endpoints, clock=dependencies.clock)
    heartbeats = [
        Heartbeat(
            channel=channel_id("webhook", name),
            every=one.webhook.heartbeat,
            send=partial(notifier.send_heartbeat, name),
        )
        for name, one in settings.channels.items()
        if one.webhook is not None and one.webhook.heartbeat is not None
    ]
    return OpenChannel(notifier=notifier, heartbeats=heartbeats)


async def diagnose_webhooks(settings: Settings) -> Sequence[Finding]:
    """Return whether the addresses and credentials can be read. Nothing is posted: a receiver would act on it."""
    found = []
    for name, one in settings.channels.items():
        if one.webhook is None:
            continue
        try:
            endpoint = endpoint_of(name, one.webhook)
            endpoint.url()
            endpoint.headers()
            endpoint.signing_key()
        except (ValueError, SourceError) as error:
            found.append(
                broken(
                    sentence(
                        "the webhook {webhook} cannot be used: {error}", webhook=name, error=said_by(error)
                    ),
                    sentence("correct the file that it names"),
                )
            )
            continue
        found.append(
            ok(
                sentence(
                    "the webhook {webhook} has its address and credentials; nothing was posted to it",
                    webhook=name,
                )
            )
        )
    return found


def endpoint_of(name: str, settings: WebhookSettings) -> WebhookEndpoint:
    """Return the endpoint of one channel. Raises ValueError."""
    url = secret(settings.url, settings.url_file)
    assert url is not None  # the settings have one of them
    more = {key: value.get_secret_value() for key, value in settings.http_headers.items()}
    credentials = login_header(settings.authorization, settings.basic_auth)
    try:
        tls = _context(settings.tls_config)
    except (OSError, ssl.SSLError) as error:
        raise ValueError(f"channels.{name}.webhook.tls_config: {error}") from error
    key = secret(settings.signing_secret, settings.signing_secret_file)
    return WebhookEndpoint(
        url=url,
        headers=lambda: {**more, **credentials()},
        signing_key=key or str,
        tls=tls,
        timeout=settings.timeout,
    )


def _context(tls: TlsConfig) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=tls.ca_file or None)
    if tls.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if tls.cert_file:
        context.load_cert_chain(tls.cert_file, tls.key_file or None)
    return context
