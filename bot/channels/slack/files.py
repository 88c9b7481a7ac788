"""This file sends and fetches files through Slack: the three steps of an upload, and one of a download."""

from urllib.parse import urlsplit

import aiohttp

from alerts.cards.message import Attachment
from bot.channels.slack.block_limits import FILE_AT_MOST
from bot.channels.slack.web_client import SlackClient
from bot.delivery.notifier_protocol import Permanent


async def upload(
    client: SlackClient, file: Attachment, name: str, *, channel: str, thread: str | None
) -> None:
    """Put the file into a channel or a thread; what is longer than we attach is cut. Raises SendError."""
    content = file.content.encode()[:FILE_AT_MOST]
    if not content:
        return
    place = await client.call(
        "files.getUploadURLExternal",
        client.web.files_getUploadURLExternal(filename=name, length=len(content)),
    )
    await client.call("file upload", _send(client, str(place["upload_url"]), content))
    await client.call(
        "files.completeUploadExternal",
        client.web.files_completeUploadExternal(
            files=[{"id": place["file_id"], "title": file.name}], channel_id=channel, thread_ts=thread
        ),
    )


async def _send(client: SlackClient, address: str, content: bytes) -> None:
    form = aiohttp.FormData()
    form.add_field("file", content, filename="file")
    async with client.session.post(address, data=form) as answer:
        if answer.status != 200:
            raise Permanent(f"file upload: {answer.status}")


async def download(client: SlackClient, address: str, *, at_most: int) -> bytes:
    """A file that somebody shared. Raises SendError; Permanent when it is larger than `at_most` bytes.

    Permanent, too, when it does not lie with Slack (a Google Drive or Dropbox file, say): our token is for Slack alone.
    """
    if not lies_with_slack(address, client.web.base_url):
        raise Permanent("the file does not lie with Slack: upload it here instead of sharing a link to it")
    return bytes(await client.call("file download", _fetch(client, address, at_most)))


def lies_with_slack(address: str, api_url: str) -> bool:
    """Whether the address is on the API's own host, or over TLS on one below it: files.slack.com of slack.com."""
    asked, api = urlsplit(address), urlsplit(api_url)
    if (asked.scheme, asked.netloc) == (api.scheme, api.netloc):
        return True
    return asked.scheme == "https" and (asked.hostname or "").endswith(f".{api.hostname}")


async def _fetch(client: SlackClient, address: str, at_most: int) -> bytes:
    headers = {"Authorization": f"Bearer {client.web.token}"}
    async with client.session.get(address, headers=headers) as answer:
        if answer.status != 200:
            raise Permanent(f"the file could not be fetched: {answer.status}")
        content = b""
        async for part in answer.content.iter_chunked(65_536):
            content += part
            if len(content) > at_most:
                raise Permanent(f"the file is larger than {at_most} bytes")
        return content
