"""Traces of calls, if the extra `otel` is installed and OTEL_EXPORTER_OTLP_ENDPOINT says where to."""

import os
from collections.abc import Sequence

import grpc


def interceptors() -> Sequence[grpc.aio.ServerInterceptor]:
    """OpenTelemetry's, which name RPC, code and peer, and no message; none without the extra."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
        return []
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.instrumentation.grpc import aio_server_interceptor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SystemExit("Traces need: pip install 'visualproof-server[otel]'") from None
    provider = TracerProvider(resource=Resource.create({"service.name": "visualproof-server"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return [aio_server_interceptor(tracer_provider=provider)]  # type: ignore[no-untyped-call]
