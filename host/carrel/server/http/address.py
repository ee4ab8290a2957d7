"""Parses the address to listen on, and opens its sockets."""

from __future__ import annotations

import errno
import ipaddress
import os
import re
import socket
from dataclasses import dataclass

from carrel.errors import ConfigError

_SHAPE = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:\s]+):([0-9]{1,5})")
_EXAMPLE = "127.0.0.1:8000"
_REMEDIES = {
    errno.EADDRINUSE: "end the program that listens there, or use another port",
    errno.EADDRNOTAVAIL: "use an address of this machine",
    errno.EACCES: "use a port above 1023",
}
_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")


@dataclass(frozen=True, slots=True)
class Address:
    """An address to listen on.

    Attributes:
        host: a name or an IP address, without brackets.
        port: 0 lets the system choose.
    """

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it; names other than localhost may change."""
        if self.host == "localhost":
            return True
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return address in _LOOPBACK or address == ipaddress.ip_address("::1")

    def url(self, port: int) -> str:
        """Returns the endpoint's URL on `port`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}/mcp"


def parse_address(text: str) -> Address:
    """Returns the address that `--http` names.

    Raises:
        ConfigError: not HOST:PORT.
    """
    shape = _SHAPE.fullmatch(text.strip())
    if shape is None or int(shape[2]) > 65_535:
        raise ConfigError([f"--http: expected HOST:PORT such as {_EXAMPLE} but found {text!r}"])
    host = shape[1].strip("[]").lower()
    return Address(host, int(shape[2]))


def listen(address: Address, setting: str = "--http") -> list[socket.socket]:
    """Opens the sockets; `localhost` is IPv4, and IPv6 if the machine has it.

    Args:
        address: where to listen.
        setting: that names it, for the error.

    Raises:
        ConfigError: the port is in use, or cannot be used.
    """
    hosts = ["127.0.0.1", "::1"] if address.host == "localhost" else [address.host]
    opened: list[socket.socket] = []
    port = address.port
    for host in hosts:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            opened.append(socket.create_server((host, port), family=family, backlog=1024))
        except OSError as error:
            if opened and address.host == "localhost":
                continue  # the machine has no IPv6, or another program uses that port
            raise ConfigError(
                [f"{setting}: cannot listen on {host}:{port}: {_reason(error)}"]
            ) from None
        port = opened[0].getsockname()[1]
    return opened


def _reason(error: OSError) -> str:
    """Words why a socket cannot listen, and what to do; Python's own text repeats the address."""
    number = None if isinstance(error, socket.gaierror) else error.errno
    reason = error.strerror or str(error) if number is None else os.strerror(number)
    return f"{reason}; {_REMEDIES.get(number or 0, 'use another address')}"
