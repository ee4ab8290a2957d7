"""From the bytes on the wire to text: decompression under caps, then the charset.

This is all that the host does with a body. Of an XML document it reads the bytes of the
declaration, to learn the encoding; everything else is parsed in the sandbox.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from carrel.text.utf8 import Utf8

#: Encodings a document may be in, by Python's names. Python's own list also has codecs that are
#: no charsets (zip, rot13, idna) and ones that hide markup from filters (utf-7).
_CHARSETS = frozenset(
    str.split("""
    utf-8 utf-16 utf-16-le utf-16-be ascii iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5
    iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-13 iso8859-14 iso8859-15
    iso8859-16 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u
    mac-roman cp866 cp874 tis-620 shift_jis cp932 euc_jp iso2022_jp gbk gb2312 gb18030 big5
    big5hkscs euc_kr cp949
""")
)

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_CHARSET_PARAMETER = re.compile(r';\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]*))', re.IGNORECASE)
_XML_DECLARATION = re.compile(
    rb"""\s{0,64}<\?xml[^>]{1,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']"""
)
_HTML_META = re.compile(
    rb"""<meta[^>]{1,200}?charset\s*=\s*["']?([A-Za-z0-9._-]{1,40})""", re.IGNORECASE
)

# Deflate's own limit is 1032:1; documents of real sources stay under 40:1.
_RATIO = 250
_RATIO_FROM = 8 * 2**20

# Bytes that one step of decompression makes at most.
_STEP = 128 * 1024

# gzip members that any body may have, and bytes on the wire that each further one must have on
# average. Block gzip, the format with the smallest members in use, has about 16 KB each.
_FREE_MEMBERS = 64
_BYTES_PER_MEMBER = 1024


class TooLargeError(Exception):
    """The body passes its cap. `what` says in which form."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)


class UndecodableError(Exception):
    """The body is not what its headers say. The message is for a person."""


class BodyReader:
    """Takes the body's chunks and keeps what they decompress to.

    Args:
        encodings: the values of all Content-Encoding headers.
        cap: bytes allowed, both on the wire and after decompression.

    Raises:
        UndecodableError: an encoding that was not asked for, or several of them.
    """

    def __init__(self, encodings: list[str], cap: int) -> None:
        names = [name.strip().lower() for value in encodings for name in value.split(",")]
        names = [name for name in names if name not in {"", "identity"}]
        if len(names) > 1:
            raise UndecodableError("it is compressed several times over")
        if names and names[0] not in {"gzip", "x-gzip", "deflate"}:
            raise UndecodableError("it is compressed in a way that was not asked for")
        self._kind = names[0].removeprefix("x-") if names else ""
        self._cap = cap
        self._received = 0
        self._members = 0
        self._body = bytearray()
        self._taken = 0
        self._inflate: zlib._Decompress | None = None
        self._head = b""

    def feed(self, chunk: bytes) -> Iterator[int]:
        """Takes the next bytes from the wire, step by step.

        Yields:
            The number of bytes that each step added to the body. A step is a fraction of a
            millisecond of work.

        Raises:
            TooLargeError: a cap is passed.
            UndecodableError: the compressed stream is broken.
        """
        self._received += len(chunk)
        if self._received > self._cap:
            raise TooLargeError("the answer")
        if not self._kind:
            yield self._keep(chunk)
            return
        while chunk:
            before = self._size
            chunk = self._inflate_some(chunk)
            yield self._size - before

    def take(self) -> bytes:
        """Returns the bytes so far and forgets them, so that a large body is never whole here."""
        data = bytes(self._body)
        self._taken += len(data)
        self._body.clear()
        return data

    @property
    def _size(self) -> int:
        return self._taken + len(self._body)

    def finish(self) -> bytearray:
        """The whole body, but for what was taken.

        Raises:
            UndecodableError: the compressed stream ends in its middle.
        """
        while self._received and self._kind and not (self._inflate and self._inflate.eof):
            # A raw stream has no trailer, so its last bytes may still be inside the inflater.
            before = self._size
            if self._inflate is not None:
                self._inflate_some(b"")
            if self._size == before:
                raise UndecodableError("its compressed stream is cut")
        return self._body

    def _start(self, chunk: bytes) -> bytes:
        """Chooses the inflater; returns the bytes to inflate, none while too few have come."""
        self._head += chunk
        if self._kind == "gzip":
            self._inflate = zlib.decompressobj(16 + zlib.MAX_WBITS)
        elif len(self._head) >= 2:
            # "deflate" means a zlib stream (RFC 9110); some servers send it without the header.
            first, second = self._head[:2]
            is_zlib = first & 0x0F == 8 and (first << 8 | second) % 31 == 0
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS if is_zlib else -zlib.MAX_WBITS)
        else:
            return b""
        chunk, self._head = self._head, b""
        return chunk

    def _inflate_some(self, chunk: bytes) -> bytes:
        """Inflates at most what the cap has room for; returns what is left of the chunk."""
        if self._inflate is not None and self._inflate.eof:
            # gzip files may be strung together, and padded with zeros.
            if not chunk.strip(b"\0"):
                return b""
            if self._kind != "gzip":
                raise UndecodableError("bytes follow its compressed stream")
            self._inflate = None
        if self._inflate is None:
            self._members += 1
            if self._members > _FREE_MEMBERS + self._received // _BYTES_PER_MEMBER:
                raise UndecodableError("its compressed stream is in too many parts")
            chunk = self._start(chunk)
            if self._inflate is None:
                return b""
        room = min(self._cap - self._size + 1, _STEP)
        try:
            data = self._inflate.decompress(chunk, room)
        except zlib.error as fault:
            raise UndecodableError("its compressed stream is broken") from fault
        self._keep(data)
        if self._size > max(_RATIO_FROM, _RATIO * self._received):
            raise TooLargeError("the decompressed answer")
        return self._inflate.unused_data if self._inflate.eof else self._inflate.unconsumed_tail

    def _keep(self, data: bytes) -> int:
        self._body += data
        if self._size > self._cap:
            raise TooLargeError("the decompressed answer" if self._kind else "the answer")
        return len(data)


def decode_text(body: bytes | bytearray, content_type: str) -> str:
    """The body as text, without byte order mark.

    The charset is that of, in this order: the byte order mark, Content-Type, the XML declaration
    or HTML's meta, UTF-8.

    Raises:
        UndecodableError: the charset is unknown, or a byte does not belong to it.
    """
    return "".join(decode_pieces(body, content_type))


def decode_pieces(body: bytes | bytearray, content_type: str) -> Iterator[str]:
    """As `decode_text`, in pieces that take a fraction of a millisecond each."""
    charset, skip = _find_charset(body, content_type)
    decoder = codecs.getincrementaldecoder(charset)()
    view = memoryview(body)
    for start in range(skip, max(len(body), skip + 1), _STEP):
        end = min(start + _STEP, len(body))
        # Bytes of the piece before that are the beginning of a character.
        buffered = len(decoder.getstate()[0])
        with _explained(charset, start - buffered, len(body)):
            yield decoder.decode(view[start:end], end == len(body))


def decode_utf8(body: bytes, content_type: str) -> Utf8:
    """As `decode_text`, for a body that is handed on and that the host does not read."""
    charset, skip = _find_charset(body, content_type)
    with _explained(charset, skip, len(body)):
        rest = body[skip:] if skip else body
        return Utf8(rest) if charset == "utf-8" else Utf8.of(rest.decode(charset))


@contextmanager
def _explained(charset: str, skip: int, size: int) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as fault:
        raise UndecodableError(
            f"byte {fault.start + skip} of {size} is not valid {charset}"
        ) from fault


def _find_charset(body: bytes | bytearray, content_type: str) -> tuple[str, int]:
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return charset, len(bom)
    declared = _CHARSET_PARAMETER.search(content_type)
    if declared:
        return _supported_charset(declared[1] or declared[2] or "utf-8"), 0
    if body[:4] == b"<\0?\0":
        return "utf-16-le", 0
    if body[:4] == b"\0<\0?":
        return "utf-16-be", 0
    found = _XML_DECLARATION.match(body[:400])
    if found is None and "html" in content_type.lower():
        found = _HTML_META.search(body[:1024])
    if found:
        charset = _supported_charset(found[1].decode("ascii"))
        # The declaration was read byte by byte, so the document is not in UTF-16.
        return "utf-8" if charset.startswith("utf-16") else charset, 0
    return "utf-8", 0


def _supported_charset(label: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9._:-]{1,40}", label):
        try:
            name = codecs.lookup(label).name
        except LookupError:
            name = ""
        if name in _CHARSETS:
            # Without a byte order mark, which was looked for before: little-endian, as on the web.
            return "utf-16-le" if name == "utf-16" else name
    raise UndecodableError("it is declared to be in a charset that is not supported")
