"""The service on a gRPC server: requests come as the bytes sent, so that limits come before messages."""

from typing import Any

import grpc
from google.protobuf.message_factory import GetMessageClass

from visualproof_server.rpc.limits import SERVICE

# By whether the caller and whether the server sends several messages.
_HANDLERS = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}


def add_to_server(servicer: Any, server: grpc.aio.Server) -> None:
    """Serves every method of the contract; each is `calls.logged`."""
    methods = {}
    for method in SERVICE.methods:
        handler: Any = _HANDLERS[method.client_streaming, method.server_streaming]
        spelled = GetMessageClass(method.output_type).SerializeToString
        methods[method.name] = handler(
            getattr(servicer, method.name), request_deserializer=None, response_serializer=spelled
        )
    generic = grpc.method_handlers_generic_handler(SERVICE.full_name, methods)
    server.add_generic_rpc_handlers((generic,))
