"""The rule of the contract's versions: which ones this host speaks."""

from __future__ import annotations

import re

from carrel.errors import LoadError
from carrel.text.printable import printable

#: The version that this host speaks; it takes plugins of all earlier minor versions.
SPOKEN = (1, 1)
#: The version that brought documents of bytes.
BYTES_SINCE = (1, 1)

_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")


def require_contract(version: str, plugin: str) -> tuple[int, int]:
    """Refuses a plugin that needs a contract version which this host does not speak.

    Args:
        version: such as `1.1`, as the plugin says it.
        plugin: for the error.

    Returns:
        Its major and minor number.

    Raises:
        LoadError: another major version, a later minor one, or no version.
    """
    found = _VERSION.fullmatch(version)
    numbers = (int(found[1]), int(found[2])) if found is not None else (0, 0)
    major, minor = SPOKEN
    if numbers[0] == major and numbers[1] <= minor:
        return numbers
    later = numbers > SPOKEN
    remedy = "; install a later Carrel, or an earlier version of the plugin" if later else ""
    needed = version if found is not None else repr(printable(version, 20))
    raise LoadError(
        f"{plugin}: needs contract {needed}, this host has {major}.{minor}{remedy}", plugin=plugin
    )
