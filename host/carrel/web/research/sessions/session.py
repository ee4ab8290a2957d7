"""Defines a research session: its steps, sources, gaps and failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Self

#: The most steps, sources, gaps and failures of one session.
MAX_STEPS: Final = 200
MAX_SOURCES: Final = 1_000
MAX_GAPS: Final = 200
MAX_FAILURES: Final = 200
#: The longest texts of a session, in characters.
LONGEST_TEXT: Final = 8_000
LONGEST_LINE: Final = 500


@dataclass(frozen=True, slots=True)
class ResearchStep:
    """One step.

    Attributes:
        number: as the client counts.
        description: what is done.
        at: when it was recorded, in RFC 3339.
        revises: number of the step that it replaces.
        branch: name of the line of research that it belongs to; empty for the main one.
        branched_from: number of the step that the branch begins at.
    """

    number: int
    description: str
    at: str
    reasoning: str = ""
    confidence: str = ""
    rejected: tuple[str, ...] = ()
    revises: int | None = None
    branch: str = ""
    branched_from: int | None = None

    @property
    def line(self) -> str:
        """The description in one line."""
        words = " ".join(self.description.split())
        return words if len(words) <= 120 else words[:119] + "…"


@dataclass(frozen=True, slots=True)
class Source:
    """Something that was found or read."""

    url: str
    title: str = ""
    found_in: int = 0
    relevance: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not known yet."""

    description: str
    found_in: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure of a tool that the session was given to."""

    kind: str
    at: str
    url: str = ""


@dataclass(slots=True)
class ResearchSession:
    """A line of research.

    Attributes:
        id: a random UUID.
        goal: what is sought.
        started: when it began, in RFC 3339.
        used: when it was used last, in seconds since 1970.
        completed: when its last step was recorded; None while steps are to come.
        summary: a running summary that the client gives.
        estimate: steps that the client expects.
        failures: the last 200.
        providers: name → [attempts, successes].
    """

    id: str
    goal: str
    started: str
    used: float
    completed: str | None = None
    summary: str = ""
    estimate: int = 0
    steps: list[ResearchStep] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    failures: list[Failed] = field(default_factory=list)
    providers: dict[str, list[int]] = field(default_factory=dict)

    @property
    def last_number(self) -> int:
        """The number of the step that was recorded last; 0 without steps."""
        return self.steps[-1].number if self.steps else 0

    def step(self, number: int) -> ResearchStep | None:
        """Returns the step of that number, the one that was recorded last if there are several."""
        return next((step for step in reversed(self.steps) if step.number == number), None)

    def superseded_by(self, step: ResearchStep) -> int | None:
        """Returns the number of the last step that revises a step, if there is one."""
        position = next(index for index, recorded in enumerate(self.steps) if recorded is step)
        return self.superseded()[position]

    def superseded(self) -> list[int | None]:
        """Returns for each step the number of the last step that revises it, None without one."""
        revised: dict[int, int] = {}
        superseding = []
        for step in reversed(self.steps):
            superseding.append(revised.get(step.number))
            if step.revises is not None:
                revised.setdefault(step.revises, step.number)
        return superseding[::-1]

    def add_sources(self, found: Iterable[Source]) -> None:
        """Adds sources whose address is new, while there is room."""
        urls = {source.url for source in self.sources}
        for source in found:
            if source.url not in urls and len(self.sources) < MAX_SOURCES:
                urls.add(source.url)
                self.sources.append(source)

    def add_gap(self, description: str, number: int) -> None:
        """Adds a gap unless it is known."""
        if len(self.gaps) < MAX_GAPS and all(gap.description != description for gap in self.gaps):
            self.gaps.append(Gap(description, number))

    def add_failures(self, found: Iterable[Failed]) -> None:
        """Adds failures; the oldest are dropped where there are too many."""
        self.failures = [*self.failures, *found][-MAX_FAILURES:]

    def count_provider(self, name: str, *, success: bool) -> None:
        """Counts an attempt of a provider."""
        if name in self.providers or len(self.providers) < 50:
            counts = self.providers.setdefault(name, [0, 0])
            counts[0] += 1
            counts[1] += success

    def to_json(self) -> dict[str, Any]:
        """Returns the session as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Returns the session of its JSON."""
        values = {member.name: raw[member.name] for member in fields(cls) if member.name in raw}
        values["steps"] = [
            ResearchStep(**{**step, "rejected": tuple(step["rejected"])})
            for step in values["steps"]
        ]
        values["gaps"] = [Gap(**gap) for gap in values["gaps"]]
        values["sources"] = [Source(**source) for source in values["sources"]]
        values["failures"] = [Failed(**failure) for failure in values["failures"]]
        return cls(**values)
