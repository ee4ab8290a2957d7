"""Receives the body of a response into a sink, piece by piece.

A sink writes to a disk, which may be slow or hang, so it runs on threads of its own: neither the
event loop nor the lookup of names waits for it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import Executor

from carrel.exchange import FileHead, FileRefusedError, FileSink

from .decode import BodyReader
from .http1 import Head
from .url import Target

#: Bytes that a sink is given at once; the first piece is given as it comes, so that a file of
#: another kind is refused before much of it is received.
_PIECE = 256 * 1024

_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15}|\*)")


async def receive_file(
    head: Head, target: Target, body: AsyncIterator[bytes], sink: FileSink, executor: Executor
) -> None:
    """Passes a body to a sink.

    Args:
        head: of the response, with status 200 or 206.
        target: the URL of the response.
        body: without framing.
        sink: receives it.
        executor: runs the sink.

    Raises:
        FileRefusedError: the sink refuses the file, or the response has no readable range.
        UndecodableError: it is compressed in a way that was not requested, or its stream is broken.
        WireError: the body is cut short.
    """
    loop = asyncio.get_running_loop()
    begins = _file_head(head, target)
    reader = BodyReader(
        [value for name, value in head.headers if name.lower() == "content-encoding"], _NO_CAP
    )
    await loop.run_in_executor(executor, sink.begin, begins)
    waiting, least = bytearray(), 1
    async for data in body:
        for _ in reader.feed(data):
            waiting += reader.take()
            if len(waiting) >= least:
                await loop.run_in_executor(executor, sink.write, bytes(waiting))
                waiting.clear()
                least = _PIECE
    waiting += reader.finish()
    if waiting:
        await loop.run_in_executor(executor, sink.write, bytes(waiting))


#: The sink has the limit of a file's size.
_NO_CAP = 2**62


def _file_head(head: Head, target: Target) -> FileHead:
    headers = {name.lower(): value for name, value in reversed(head.headers)}
    if head.status == 206:
        found = _RANGE.fullmatch(headers.get("content-range", "").strip())
        if found is None or headers.get("content-encoding", "identity") != "identity":
            raise FileRefusedError(f"{target.host} answers with a part that cannot be placed")
        size = None if found[3] == "*" else int(found[3])
        return FileHead(target.url, headers, int(found[1]), size)
    length = headers.get("content-length", "")
    known = length.isascii() and length.isdigit() and "content-encoding" not in headers
    return FileHead(target.url, headers, 0, int(length[:18]) if known else None)
