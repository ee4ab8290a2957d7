"""Records research as sessions of steps, which outlive the conversation that made them.

`session` is the value, `store` keeps it for its principal, `coverage` describes its sources and
suggests queries, `patterns` lists repeated failures, `views` are what the tools answer.
"""

from __future__ import annotations

from .session import ResearchSession, ResearchStep
from .store import SessionNotFoundError, SessionStore, open_sessions

__all__ = [
    "ResearchSession",
    "ResearchStep",
    "SessionNotFoundError",
    "SessionStore",
    "open_sessions",
]
