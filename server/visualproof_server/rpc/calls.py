"""Around every call: who calls, how many at once, errors as gRPC's, one line in the log."""

import asyncio
import functools
import inspect
import logging
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, Protocol, TypeVar

import grpc
from google.protobuf.message import Message

from visualproof_server.metrics import CALL_SECONDS, CALLS
from visualproof_server.model.errors import VisualProofError, of_system
from visualproof_server.rpc import limits, status
from visualproof_server.rpc.auth import Tokens
from visualproof_server.rpc.tenant import CURRENT

log = logging.getLogger("visualproof.rpc")
Context = grpc.aio.ServicerContext[Any, Any]
F = TypeVar("F", bound=Callable[..., Any])
_RETRY_S = 2.0


class Bound:
    """How much of a thing may be under way at once, of all callers and of one tenant."""

    def __init__(self, most: int, of_tenant: int, what: str) -> None:
        self._most = most
        self._of_tenant = of_tenant
        self._what = what
        self._held: Counter[str] = Counter()
        self._count = 0

    @contextmanager
    def held(self, amount: int = 1) -> Iterator[None]:
        """Counts more for as long as it lasts; error SERVER_BUSY if that is too much."""
        tenant = CURRENT.get()
        if self._count + amount > self._most:
            raise self._busy(self._most, "")
        if tenant and self._held[tenant] + amount > self._of_tenant:
            raise self._busy(self._of_tenant, "of your ")
        self._count += amount
        self._held[tenant] += amount
        try:
            yield
        finally:
            self._count -= amount
            self._held[tenant] -= amount
            if not self._held[tenant]:
                del self._held[tenant]

    def _busy(self, most: int, whose: str) -> VisualProofError:
        return VisualProofError(
            "SERVER_BUSY",
            f"At most {most} {whose}{self._what} may be under way; try again shortly.",
            retry_after_s=_RETRY_S,
        )


class Called(Protocol):
    """What a servicer keeps for its calls."""

    _tokens: Tokens
    _calls: Bound
    _requests: Bound


def logged(method: F) -> F:
    """Turns errors into gRPC's, bounds the calls, and logs each by allow-listed fields only."""
    made: F = _stream(method) if inspect.isasyncgenfunction(method) else _unary(method)
    return made


def _unary(method: Any) -> Any:
    @functools.wraps(method)
    async def unary(self: Called, request: Any, context: Context) -> Any:
        with _line(method.__name__) as line:
            try:
                CURRENT.set(self._tokens.tenant_of(context.invocation_metadata() or ()))
                with self._calls.held(), self._requests.held(_size(request)):
                    return await method(self, _taken(method, request), context)
            except Exception as error:
                line.failed(context, error)
                return None

    return unary


def _stream(method: Any) -> Any:
    @functools.wraps(method)
    async def stream(self: Called, request: Any, context: Context) -> AsyncIterator[Any]:
        with _line(method.__name__) as line:
            try:
                CURRENT.set(self._tokens.tenant_of(context.invocation_metadata() or ()))
                with self._calls.held(), self._requests.held(_size(request)):
                    wanted = _taken(method, request)
                    async with aclosing(method(self, wanted, context)) as messages:
                        async for message in messages:
                            yield message
            except Exception as error:
                line.failed(context, error)

    return stream


def _size(request: Any) -> int:
    """Bytes of a request that is held as long as its call lasts; an upload's are on disk."""
    return request.ByteSize() if isinstance(request, Message) else 0


def _taken(method: Any, request: Any) -> Any:
    """A call's request: its message, the messages of its stream, or the error that receiving gave."""
    if isinstance(request, VisualProofError):
        raise request
    return request if isinstance(request, Message) else limits.stream(method.__name__, request)


class _Line:
    """What the log says of a call."""

    def __init__(self, rpc: str) -> None:
        self._rpc = rpc
        self.code = "OK"

    def failed(self, context: Context, error: Exception) -> None:
        """Ends the call with the error, known or not."""
        try:
            self._failed(context, error)
        finally:
            _let_go(error)

    def _failed(self, context: Context, error: Exception) -> None:
        if isinstance(error, OSError):
            error = of_system(error) or error
        if not isinstance(error, VisualProofError):
            log.exception("unexpected error", extra={"rpc": self._rpc})
            error = VisualProofError("INTERNAL", "The call failed; try again.")
        self.code = error.code
        status.refuse(context, error)


def _let_go(error: BaseException | None) -> None:
    """Empties the frames that an error came through: they hold a request of megabytes in a circle
    with the error, until the collector comes by."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


@contextmanager
def _line(rpc: str) -> Iterator[_Line]:
    """Counts and logs a call, however it ends."""
    started, line = time.monotonic(), _Line(rpc)
    try:
        yield line
    except (asyncio.CancelledError, GeneratorExit):
        # The caller is gone, or its deadline has passed.
        line.code = "CANCELLED"
        raise
    finally:
        seconds = time.monotonic() - started
        CALLS.labels(rpc, line.code).inc()
        CALL_SECONDS.labels(rpc).observe(seconds)
        ms = round(seconds * 1000)
        log.info("call", extra={"rpc": rpc, "code": line.code, "ms": ms})
