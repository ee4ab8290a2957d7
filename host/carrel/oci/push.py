"""Pushes a plugin to a registry: blobs first, the manifest with its tag last."""

from __future__ import annotations

from carrel.errors import ArgumentError

from .package import PluginPackage
from .reference import ImageReference
from .repository import Descriptor, RepositoryWriter


def push(
    package: PluginPackage, reference: ImageReference, repository: RepositoryWriter
) -> Descriptor:
    """Publishes a plugin under the reference's tag, and returns its manifest's descriptor.

    Raises:
        ArgumentError: the reference has no tag.
        RegistryError: the registry refused something.
    """
    if reference.tag is None or reference.digest is not None:
        name = f"{reference.host}/{reference.repository}"
        raise ArgumentError([f"{reference}: a plugin is published under a tag; write {name}:TAG"])
    for data, media_type in package.blobs:
        repository.put_blob(data, media_type)
    return repository.put_manifest(package.manifest, package.media_type, reference.tag)
