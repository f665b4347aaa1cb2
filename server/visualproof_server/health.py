"""`visualproof-health`: asks a server whether it is well, for probes; exit 0 SERVING, 1 not."""

import argparse
import os
import sys
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc


def main(argv: list[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="visualproof-health", description=__doc__)
    said = os.environ.get
    parser.add_argument(
        "--target",
        default=said("VISUALPROOF_HEALTH_TARGET", "localhost:50051"),
        help="host:port (VISUALPROOF_HEALTH_TARGET)",
    )
    parser.add_argument("--service", default="", help="empty: liveness")
    parser.add_argument(
        "--ca",
        default=said("VISUALPROOF_HEALTH_CA", ""),
        metavar="FILE",
        help="encrypt, trusting this CA (PEM; VISUALPROOF_HEALTH_CA)",
    )
    parser.add_argument(
        "--name",
        default=said("VISUALPROOF_HEALTH_NAME", ""),
        help="the name in the server's certificate (VISUALPROOF_HEALTH_NAME)",
    )
    parser.add_argument("--timeout", type=float, default=3.0, help="seconds")
    args = parser.parse_args(argv)
    options = [("grpc.ssl_target_name_override", args.name)] if args.name else []
    if args.ca:
        secure = grpc.ssl_channel_credentials(Path(args.ca).read_bytes())
        channel = grpc.secure_channel(args.target, secure, options)
    else:
        channel = grpc.insecure_channel(args.target)
    with channel:
        try:
            request = health_pb2.HealthCheckRequest(service=args.service)
            answer = health_pb2_grpc.HealthStub(channel).Check(request, timeout=args.timeout)
        except grpc.RpcError as error:
            sys.stderr.write(f"{error.code().name}\n")
            return 1
    return 0 if answer.status == health_pb2.HealthCheckResponse.SERVING else 1


if __name__ == "__main__":
    sys.exit(main())
