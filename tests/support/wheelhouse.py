"""Makes wheels of installed packages, so that installers work without an index."""

from __future__ import annotations

import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def needed(name: str) -> dict[str, Distribution]:
    """Returns what an installed package needs here, with its dependencies; not itself."""
    found: dict[str, Distribution] = {}
    waiting = [(name, frozenset[str]())]
    while waiting:
        package, extras = waiting.pop()
        own = distribution(package)
        for text in own.requires or ():
            requirement = Requirement(text)
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": one}) for one in extras or {""}):
                continue
            key = canonicalize_name(requirement.name)
            if key not in found:
                try:
                    found[key] = distribution(requirement.name)
                except PackageNotFoundError:
                    continue  # it is for another platform
                waiting.append((requirement.name, frozenset(requirement.extras)))
    return found


def repack(package: Distribution, into: Path) -> Path:
    """Returns the wheel of an installed package, made of the files of its record."""
    tags = [
        line.partition(":")[2].strip().split("-")
        for line in (package.read_text("WHEEL") or "").splitlines()
        if line.startswith("Tag:")
    ]
    tag = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    name = canonicalize_name(package.metadata["Name"]).replace("-", "_")
    path = into / f"{name}-{package.version}-{tag}.whl"
    folder = f"{name}-{package.version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        record = []
        for file in package.files or ():
            source = Path(str(package.locate_file(file)))
            if file.parts[0] == ".." or "__pycache__" in file.parts or not source.is_file():
                continue
            parts = file.parts
            if parts[0].endswith(".dist-info"):
                parts = (folder, *parts[1:])
            inside = "/".join(parts)
            if inside.endswith(
                (".dist-info/RECORD", "/INSTALLER", "/REQUESTED", "/direct_url.json")
            ):
                continue
            archive.write(source, inside)
            record.append(f"{inside},,")
        record.append(f"{folder}/RECORD,,")
        archive.writestr(f"{folder}/RECORD", "\n".join(record) + "\n")
    return path


def make_wheelhouse(wheel: Path, into: Path) -> Path:
    """Returns a folder with a wheel of Carrel and those of all that it needs."""
    into.mkdir(parents=True, exist_ok=True)
    for package in needed("carrel").values():
        repack(package, into)
    (into / wheel.name).write_bytes(wheel.read_bytes())
    return into
