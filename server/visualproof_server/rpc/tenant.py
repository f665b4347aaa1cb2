"""Who calls: set once at the rim, by the token; below it is an argument."""

from contextvars import ContextVar

CURRENT: ContextVar[str] = ContextVar("tenant", default="")
