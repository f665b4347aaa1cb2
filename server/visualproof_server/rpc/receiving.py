"""How many requests are read from the wire at once: gRPC alone holds all that come, whole, before
anybody can refuse one.

A call with one request is taken here as one with a stream of them (the same on the wire), so that its
message is read only when it has its turn.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc

from visualproof_server.model.errors import VisualProofError
from visualproof_server.rpc import status
from visualproof_server.rpc.auth import Tokens

# Requests of one tenant that are read at once, and how long one may take to come.
_AT_ONCE, _COMES_S = 4, 20.0


class Receiving(grpc.aio.ServerInterceptor):
    """Reads the requests of one service's calls, a few of each tenant at once."""

    def __init__(self, service: str, tokens: Tokens) -> None:
        self._prefix = f"/{service}/"
        self._tokens = tokens
        self._turns: defaultdict[str, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(_AT_ONCE)
        )

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], details: Any
    ) -> Any:
        handler = await continuation(details)
        if handler is None or handler.request_streaming:
            return handler
        if not details.method.startswith(self._prefix):
            return handler
        turns = self._turns[self._tenant(details.invocation_metadata or ())]
        if handler.response_streaming:

            async def stream(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
                request = await self._one(requests, turns, context)
                if request is not None:
                    async for response in handler.unary_stream(request, context):
                        yield response

            return grpc.stream_stream_rpc_method_handler(
                stream, handler.request_deserializer, handler.response_serializer
            )

        async def unary(requests: AsyncIterator[Any], context: Any) -> Any:
            request = await self._one(requests, turns, context)
            return None if request is None else await handler.unary_unary(request, context)

        return grpc.stream_unary_rpc_method_handler(
            unary, handler.request_deserializer, handler.response_serializer
        )

    def _tenant(self, metadata: Any) -> str:
        try:
            return self._tokens.tenant_of(metadata)
        except VisualProofError:
            # Refused by the call itself.
            return ""

    async def _one(
        self, requests: AsyncIterator[Any], turns: asyncio.Semaphore, context: Any
    ) -> Any:
        """The call's only request; None where none comes, and the call is refused."""
        async with turns:
            try:
                async with asyncio.timeout(_COMES_S):
                    request = await _only(requests)
            except TimeoutError:
                request = None
        if request is None:
            error = VisualProofError("OPTIONS_INVALID", "A call has one request, sent at once.")
            status.refuse(context, error)
        return request


async def _only(requests: AsyncIterator[Any]) -> Any:
    """The one message of a stream, None where there is none or more. Read to the end, since what reads
    it holds the last message as long as there may be another."""
    request = await anext(requests, None)
    if request is not None and await anext(requests, None) is not None:
        return None
    return request
