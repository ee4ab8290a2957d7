"""Implements `carrel plugin push` and `pull`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from carrel.errors import ArgumentError, LoadError, RegistryError, StorageError

from .command import AS_JSON, command
from .component_file import with_component
from .output import stdout_is_terminal, write_json
from .progress import Progress
from .report import OK
from .session import Session

if TYPE_CHECKING:
    from carrel.config import Config
    from carrel.oci.layout import PluginPackage
    from carrel.oci.reference import ImageReference
    from carrel.oci.settings import RegistrySettings

PLAIN_HTTP = click.Option(
    ["--plain-http"], is_flag=True, help="Speak http to the registry, not https."
)

_CORE_MODULE = b"\0asm\x01\x00\x00\x00"
_MAGIC = b"\0asm"


@command(
    "push",
    example="plugin push lists.wasm registry.example.org/plugins/lists:0.1.0",
    options=(PLAIN_HTTP, AS_JSON),
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.argument("reference", metavar="REFERENCE")
def push_command(
    session: Session, file: Path, reference: str, plain_http: bool, as_json: bool
) -> int:
    """Publish a plugin in a registry.

    FILE is a component, or a core module of another plugin system. REFERENCE is
    [oci://]REGISTRY[:PORT]/NAME:TAG; credentials come from Docker's configuration.
    """
    from carrel.oci.push import push
    from carrel.oci.registry import open_repository

    where = read_reference(reference)
    package = _pack(session, file)
    settings = settings_for(session.config(), where, plain_http=plain_http)
    with (
        Progress(f"publishing {where.name}") as progress,
        open_repository(where, settings, on_progress=progress.update) as repository,
    ):
        published = push(package, where, repository)
    result = {
        "reference": str(where),
        "digest": published.digest,
        "pinned": f"oci://{where.host}/{where.repository}@{published.digest}",
        "wasm_digest": package.wasm_digest,
        "size": package.size,
    }
    _show(result, title="published", as_json=as_json)
    return OK


@command(
    "pull",
    example="plugin pull registry.example.org/plugins/lists:0.1.0 --output lists.wasm",
    options=(PLAIN_HTTP, AS_JSON),
)
@click.argument("reference", metavar="REFERENCE")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write the component to FILE.",
)
def pull_command(
    session: Session, reference: str, output: Path | None, plain_http: bool, as_json: bool
) -> int:
    """Pull a plugin and its signatures from a registry into the local store.

    REFERENCE is [oci://]REGISTRY[:PORT]/NAME with :TAG, @sha256:DIGEST or both; a digest takes
    precedence, and the default tag is latest. The plugin is not run, and its signatures are not
    verified yet.
    """
    from carrel.oci.pull import pull
    from carrel.oci.registry import open_repository
    from carrel.plugins.sources.oci_source import plugin_store

    where = read_reference(reference)
    config = session.config()
    store = plugin_store(config)
    settings = settings_for(config, where, plain_http=plain_http)
    with (
        Progress(f"fetching {where.name}") as progress,
        open_repository(
            where, settings, on_progress=progress.update, partial_blobs=store.partial_blobs
        ) as repository,
    ):
        artifact = pull(
            where,
            repository,
            store,
            max_bytes=config.runtime.max_component_bytes,
            on_progress=progress.update,
        )
    result: dict[str, Any] = {
        "reference": str(where),
        "digest": artifact.digest,
        "pinned": f"oci://{where.host}/{where.repository}@{artifact.digest}",
        "wasm_digest": artifact.wasm_digest,
        "size": len(artifact.wasm),
        "layout": artifact.layout,
        "annotations": dict(artifact.annotations),
        "ignored": list(artifact.ignored),
    }
    if output is not None:
        _write(output, artifact.wasm)
        result["output"] = str(output)
    _show(result, title="fetched", as_json=as_json)
    return OK


def read_reference(text: str) -> ImageReference:
    """Parses a reference.

    Raises:
        ArgumentError: it is invalid.
    """
    from carrel.oci.reference import parse_reference

    try:
        return parse_reference(text)
    except RegistryError as error:
        raise ArgumentError([error.message]) from error


def settings_for(config: Config, where: ImageReference, *, plain_http: bool) -> RegistrySettings:
    """Returns the settings for a reference's registry, from the configuration and the options."""
    from carrel.plugins.sources.oci_source import registry_settings as configured

    return registry_settings(where, plain_http=plain_http, base=configured(config, where.host))


def registry_settings(
    where: ImageReference, *, plain_http: bool, base: RegistrySettings | None = None
) -> RegistrySettings:
    """Returns the settings for the registry of a reference from the command line.

    The host may have a private address, because the user named it; redirects may not lead to one.

    Args:
        where: the reference.
        plain_http: whether to use http.
        base: the registries' settings in the configuration; None without any.
    """
    from dataclasses import replace

    from carrel.oci.settings import RegistrySettings

    base, named = base or RegistrySettings(), {where.host}
    return replace(
        base,
        private_hosts=base.private_hosts | named,
        plain_http_hosts=base.plain_http_hosts | (named if plain_http else set()),
    )


def _pack(session: Session, file: Path) -> PluginPackage:
    """Loads the plugin and returns the file with its metadata, ready to publish."""
    from carrel.oci.layout import write_plugin
    from carrel.runtime.exported_names import exported_names
    from carrel.runtime.imported_names import imported_names

    try:
        wasm = file.read_bytes()
    except FileNotFoundError:
        raise ArgumentError([f"{file}: there is no such file"]) from None
    except OSError as error:
        raise StorageError(str(file), error.strerror or str(error)) from error
    if not wasm.startswith(_MAGIC):
        raise LoadError(f"{file}: not WebAssembly; build the plugin first")
    if wasm.startswith(_CORE_MODULE):
        return write_plugin(wasm, name=file.stem)
    return write_plugin(
        wasm,
        name=file.stem,
        plugin_manifest=_manifest(session, file),
        imports=imported_names(wasm),
        exports=exported_names(wasm),
    )


def _manifest(session: Session, file: Path) -> dict[str, Any]:
    """Returns the component's manifest.

    Raises:
        CarrelError: the component cannot be loaded.
    """
    config = with_component(session.config(), file)
    with session.open(config) as host:
        [state] = host.plugins()
    if state.error is not None:
        raise state.error
    assert state.manifest is not None, "a plugin that loads has one"
    return dict(state.manifest.raw)


def _write(path: Path, data: bytes) -> None:
    from carrel.files.atomic_write import write_atomically

    try:
        write_atomically(path, data, mode=0o644, flush=False)
    except OSError as error:
        raise StorageError(str(path), error.strerror or str(error)) from error


def _show(result: dict[str, Any], *, title: str, as_json: bool) -> None:
    if as_json or not stdout_is_terminal():
        write_json(result)
        return
    from .render import facts

    shown = {key: value for key, value in result.items() if key != "annotations" and value}
    annotations = result.get("annotations", {})
    for name in ("title", "version", "description", "licenses"):
        text = annotations.get(f"org.opencontainers.image.{name}")
        shown |= {name: text} if text else {}
    if "ignored" in shown:
        shown["ignored"] = ", ".join(shown["ignored"])
    facts(list(shown.items()), title=title)
