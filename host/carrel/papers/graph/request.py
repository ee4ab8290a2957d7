"""Defines what a citation graph is asked for, and its caps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from carrel.papers.errors import PaperError

Direction = Literal["references", "citations", "both"]
#: A role that lists linked works.
LinkRole = Literal["references", "citations"]

DIRECTIONS: Final[tuple[Direction, ...]] = ("references", "citations", "both")

MAX_DEPTH: Final = 3
MAX_NODES: Final = 100
MAX_PER_PAPER: Final = 25

DEFAULT_DEPTH: Final = 1
DEFAULT_NODES: Final = 50
DEFAULT_PER_PAPER: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRequest:
    """A citation graph around one paper.

    Attributes:
        ref: the paper, in any form that `paper_resolve` takes.
        direction: what to follow: what a paper cites, what cites it, or both.
        depth: links between the paper and the farthest node, 1 to `MAX_DEPTH`.
        max_nodes: nodes in all, 1 to `MAX_NODES`.
        per_paper: papers that are taken of one paper in one direction, 1 to `MAX_PER_PAPER`.
        by_title: whether a title alone is enough, see `PaperResolver.resolve`.
    """

    ref: str
    direction: Direction = "both"
    depth: int = DEFAULT_DEPTH
    max_nodes: int = DEFAULT_NODES
    per_paper: int = DEFAULT_PER_PAPER
    by_title: bool = False

    def __post_init__(self) -> None:
        faults = []
        if self.direction not in DIRECTIONS:
            faults.append(f"direction: expected {', '.join(DIRECTIONS)}")
        for name, value, most in (
            ("depth", self.depth, MAX_DEPTH),
            ("max_nodes", self.max_nodes, MAX_NODES),
            ("per_paper", self.per_paper, MAX_PER_PAPER),
        ):
            if not 1 <= value <= most:
                faults.append(f"{name}: expected 1 to {most} but found {value}")
        if faults:
            raise PaperError("INVALID_REF", "; ".join(faults))

    @property
    def roles(self) -> tuple[LinkRole, ...]:
        """The roles of plugins that are asked."""
        if self.direction == "both":
            return "references", "citations"
        return (self.direction,)
