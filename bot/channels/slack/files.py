"""Uploads to Slack, in three steps, and downloads from it."""

import asyncio
from urllib.parse import urlsplit

import aiohttp

from alerts.cards.message import Attachment
from bot.channels.slack.block_limits import FILE_ALT, MAX_FILE_SIZE
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Permanent, Picture, Recoverable
from collectors.facts.sentences import sentence

_LOOKS = (0.3, 0.7, 1.0, 2.0, 4.0)  # seconds before each


async def upload_text(
    client: SlackClient, file: Attachment, name: str, *, channel: str, thread: str | None
) -> None:
    """Upload the file to a channel or a thread, cut at MAX_FILE_SIZE. Raises SendError."""
    if content := file.content.encode()[:MAX_FILE_SIZE]:
        await _upload(client, content, name, title=file.name, channel=channel, thread=thread)


async def upload_picture(client: SlackClient, picture: Picture, *, channel: str, thread: str) -> str:
    """Upload the picture to a thread, where the channel's readers may see it. Return the file's id. Raises SendError.

    A message that shows a file is refused until Slack has looked at the file, soon after the upload is complete.
    """
    file = await _upload(
        client,
        picture.content,
        picture.name,
        title=picture.name,
        alt=picture.alt[:FILE_ALT],
        channel=channel,
        thread=thread,
    )
    for pause in _LOOKS:
        await asyncio.sleep(pause)
        answer = await client.call("files.info", client.web.files_info(file=file))
        if answer["file"].get("mimetype"):
            return file
    raise Recoverable(
        sentence("file upload: Slack has not looked at it after {seconds:.0f} s", seconds=sum(_LOOKS))
    )


async def _upload(
    client: SlackClient,
    content: bytes,
    name: str,
    *,
    title: str,
    alt: str | None = None,
    channel: str,
    thread: str | None,
) -> str:
    target = await client.call(
        "files.getUploadURLExternal",
        client.web.files_getUploadURLExternal(filename=name, length=len(content), alt_txt=alt),
    )
    await client.call("file upload", _send(client, str(target["upload_url"]), content))
    await client.call(
        "files.completeUploadExternal",
        client.web.files_completeUploadExternal(
            files=[{"id": target["file_id"], "title": title}], channel_id=channel, thread_ts=thread
        ),
    )
    return str(target["file_id"])


async def _send(client: SlackClient, address: str, content: bytes) -> None:
    form = aiohttp.FormData()
    form.add_field("file", content, filename="file")
    async with client.session.post(address, data=form) as answer:
        if answer.status != 200:
            raise Permanent(sentence("file upload: {status}", status=answer.status))


async def download(client: SlackClient, address: str, *, at_most: int) -> bytes:
    """Download a shared file. Raises SendError; Permanent when it is larger than `at_most` bytes.

    Also Permanent when it is not stored on Slack (a Google Drive file, say): our token is sent to Slack only.
    """
    if not is_on_slack(address, client.web.base_url):
        raise Permanent(
            sentence("the file is not stored on Slack: upload it here instead of sharing a link to it")
        )
    return bytes(await client.call("file download", _fetch(client, address, at_most)))


def is_on_slack(address: str, api_url: str) -> bool:
    """Return whether the address is on the API's host, or over TLS on a subdomain such as files.slack.com."""
    wanted, api = urlsplit(address), urlsplit(api_url)
    if (wanted.scheme, wanted.netloc) == (api.scheme, api.netloc):
        return True
    return wanted.scheme == "https" and (wanted.hostname or "").endswith(f".{api.hostname}")


async def _fetch(client: SlackClient, address: str, at_most: int) -> bytes:
    headers = {"Authorization": f"Bearer {client.web.token}"}
    async with client.session.get(address, headers=headers) as answer:
        if answer.status != 200:
            raise Permanent(sentence("the file cannot be downloaded: {status}", status=answer.status))
        content = b""
        async for part in answer.content.iter_chunked(65_536):
            content += part
            if len(content) > at_most:
                raise Permanent(sentence("the file is larger than {limit} bytes", limit=at_most))
        return content
