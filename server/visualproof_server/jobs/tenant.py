"""Whose work is being done: set by the RPC that begins it, or by the job that resumes it."""

from contextvars import ContextVar

CURRENT: ContextVar[str] = ContextVar("tenant", default="")
