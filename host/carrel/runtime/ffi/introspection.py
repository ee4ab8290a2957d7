"""Reads a component's imports and exports through wasmtime-py's public component API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import wasmtime


def item_of(extern: Any) -> Any:
    """Returns the type of an import or export, which wasmtime-py 49 and later wrap once more."""
    return getattr(extern, "ty", extern)


def items_of(engine: wasmtime.Engine, extern: Any) -> dict[str, Any]:
    """Returns the items of an imported or exported instance by name; none of anything else."""
    from wasmtime.component import ComponentInstanceType

    kind = item_of(extern)
    if not isinstance(kind, ComponentInstanceType):
        return {}
    return {name: item_of(item) for name, item in kind.exports(engine).items()}
