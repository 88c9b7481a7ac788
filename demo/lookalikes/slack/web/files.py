"""The Web API's `files.*`: the three steps of an upload, and reading files back."""

from typing import Any

from demo.lookalikes.slack.state.people import Channel, Person
from demo.lookalikes.slack.state.workspace import Workspace
from demo.lookalikes.slack.web.arguments import Arguments
from demo.lookalikes.slack.web.content import thread_of
from demo.lookalikes.slack.web.errors import SlackError
from demo.lookalikes.slack.web.finding import channel_of
from demo.lookalikes.slack.web.uploads import is_processed


def get_upload_url(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """files.getUploadURLExternal: the URL for the bytes."""
    name, length = args.need("filename"), args.number("length", 0, 1 << 40)
    if not length:
        raise SlackError(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] missing required field: length"]}
        )
    most = "snippet_bytes" if args.text("snippet_type") else "file_bytes"
    if length > workspace.limits[most]:
        raise SlackError("snippet_too_large" if args.text("snippet_type") else "file_upload_size_restricted")
    file = new_file(workspace, name, length, workspace.bot)
    return {"upload_url": f"{workspace.url}/upload/v1/{file['id']}", "file_id": file["id"]}


def complete_upload(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """files.completeUploadExternal: share uploaded files with a comment."""
    given = args.part("files")
    if not isinstance(given, list) or not given:
        raise SlackError(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] missing required field: files"]}
        )
    files = []
    for entry in given:
        file = workspace.files.get(str(entry.get("id")))
        if file is None or file["id"] not in workspace.contents:
            raise SlackError("file_not_found")
        if file["id"] in workspace.completed:
            raise SlackError("file_already_completed")
        file["title"] = entry.get("title") or file["name"]
        files.append(file)
    for file in files:
        workspace.completed[file["id"]] = workspace.clock.now()
    channels = [args.text("channel_id"), *args.text("channels").split(",")]
    for ident in filter(None, channels):
        channel = channel_of(workspace, ident, speaking=True)
        share(
            workspace,
            channel,
            workspace.bot,
            files,
            {"text": args.text("initial_comment"), **thread_of(args)},
        )
    return {"files": files}


def info(workspace: Workspace, args: Arguments) -> dict[str, Any]:
    """files.info"""
    file = workspace.files.get(args.need("file"))
    if file is None or file["id"] not in workspace.contents:
        raise SlackError("file_not_found")
    known = file if is_processed(workspace, file) else {**file, "mimetype": "", "filetype": ""}
    return {"file": known, "comments": [], "response_metadata": {"next_cursor": ""}}


def new_file(workspace: Workspace, name: str, size: int, owner: Person) -> dict[str, Any]:
    """Create a file whose bytes are not uploaded yet."""
    ident = workspace.new_id("F")
    extension = name.rpartition(".")[2].lower() if "." in name else "text"
    address = f"{workspace.url}/files-pri/{ident}/{name}"
    file: dict[str, Any] = {
        "id": ident,
        "created": int(workspace.clock.now().timestamp()),
        "name": name,
        "title": name,
        "mimetype": _KINDS.get(extension, "text/plain"),
        "filetype": extension,
        "user": owner.id,
        "size": size,
        "mode": "hosted",
        "is_external": False,
        "url_private": address,
        "url_private_download": address.replace(f"/{name}", f"/download/{name}"),
        "channels": [],
    }
    workspace.files[ident] = file
    return file


def share(
    workspace: Workspace,
    channel: Channel,
    owner: Person,
    files: list[dict[str, Any]],
    content: dict[str, Any],
) -> None:
    """Post files to a channel."""
    for file in files:
        file["channels"] = sorted({*file["channels"], channel.id})
    workspace.post(channel, owner, {**content, "files": files, "subtype": "file_share"})


_KINDS = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "gif": "image/gif",
    "svg": "image/svg+xml",
    "csv": "text/csv",
    "json": "application/json",
    "yaml": "text/yaml",
    "yml": "text/yaml",
    "pdf": "application/pdf",
    "zip": "application/zip",
    "gz": "application/gzip",
}

METHODS = {
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
    "files.info": info,
}
