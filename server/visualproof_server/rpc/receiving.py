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
from google.protobuf.message import Message

from visualproof_server.model.errors import VisualProofError
from visualproof_server.rpc import limits, status
from visualproof_server.rpc.auth import Tokens

# Requests of one tenant that are read at once, and how long one may take to come.
_AT_ONCE, _COMES_S = 2, 20.0


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
        rpc = details.method.removeprefix(self._prefix)
        if handler.response_streaming:

            async def stream(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
                request = await self._one(rpc, requests, turns, context)
                if request is not None:
                    async for response in handler.unary_stream(request, context):
                        yield response

            return grpc.stream_stream_rpc_method_handler(
                stream, handler.request_deserializer, handler.response_serializer
            )

        async def unary(requests: AsyncIterator[Any], context: Any) -> Any:
            request = await self._one(rpc, requests, turns, context)
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
        self, rpc: str, requests: AsyncIterator[Any], turns: asyncio.Semaphore, context: Any
    ) -> Message | VisualProofError | None:
        """The call's only request, or why it is none; None where none comes, and the call is refused.

        It is made here, where nothing holds its bytes beside it for as long as the call lasts.
        """
        async with turns:
            try:
                async with asyncio.timeout(_COMES_S):
                    sent = await _only(requests)
                if sent is not None:
                    made: Message = await limits.request(rpc, sent)
                    return made
            except TimeoutError:
                pass
            except VisualProofError as error:
                # The call says it, after it has asked who calls.
                return error.with_traceback(None)
        none = VisualProofError("OPTIONS_INVALID", "A call has one request, sent at once.")
        status.refuse(context, none)
        return None


async def _only(requests: AsyncIterator[Any]) -> Any:
    """The one message of a stream, None where there is none or more. Read to the end, since what reads
    it holds the last message as long as there may be another."""
    request = await anext(requests, None)
    if request is not None and await anext(requests, None) is not None:
        return None
    return request
