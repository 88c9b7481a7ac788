"""A mail server on loopback: it takes every mail by SMTP and keeps it, unless a test makes it refuse."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default


@dataclass(slots=True)
class MailServer:
    """`mails` in the order of their arrival. `refusals`: answers to the next mails, such as `451 busy`."""

    port: int = 0
    mails: list[Message] = field(default_factory=list)
    refusals: deque[str] = field(default_factory=deque)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())
            await writer.drain()

        try:
            await say("220 mail.example ESMTP")
            while line := (await reader.readline()).decode().strip():
                match line.split(maxsplit=1)[0].upper():
                    case "DATA":
                        await say("354 go on")
                        content = (await reader.readuntil(b"\r\n.\r\n")).removesuffix(b".\r\n")
                        if self.refusals:
                            await say(self.refusals.popleft())
                            continue
                        self.mails.append(
                            message_from_bytes(content.replace(b"\r\n..", b"\r\n."), policy=default)
                        )
                        await say("250 taken")
                    case "QUIT":
                        await say("221 bye")
                        return
                    case _:
                        await say("250 ok")
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    @classmethod
    @asynccontextmanager
    async def running(cls) -> "AsyncIterator[MailServer]":
        mail = cls()
        server = await asyncio.start_server(mail.serve, "127.0.0.1", 0)
        mail.port = server.sockets[0].getsockname()[1]
        async with server:
            yield mail
