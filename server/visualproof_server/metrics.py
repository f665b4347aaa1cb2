"""What operators see: counters and times, without any text of a document (docs/operating.md).

Names follow Prometheus (https://prometheus.io/docs/practices/naming). One process, one registry.
"""

import threading
from wsgiref.simple_server import WSGIServer

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    start_http_server,
)

disable_created_metrics()  # type: ignore[no-untyped-call]
REGISTRY = CollectorRegistry()
_SECONDS = (0.005, 0.02, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)

CALLS = Counter(
    "visualproof_calls", "Calls that ended, by RPC and code.", ["rpc", "code"], registry=REGISTRY
)
CALL_SECONDS = Histogram(
    "visualproof_call_seconds", "Duration of calls.", ["rpc"], buckets=_SECONDS, registry=REGISTRY
)
PAGES = Counter(
    "visualproof_pages", "Pages that ended, by code; OK for those that were read.", ["code"],
    registry=REGISTRY,
)  # fmt: skip
PAGE_SECONDS = Counter(
    "visualproof_page_seconds", "Seconds spent on pages, by step.", ["step"], registry=REGISTRY
)
TASK_SECONDS = Histogram(
    "visualproof_task_seconds", "Duration of tasks in workers, without waiting.", ["task"],
    buckets=_SECONDS, registry=REGISTRY,
)  # fmt: skip
WORKER_STARTS = Counter(
    "visualproof_worker_starts", "Worker processes started, by pool.", ["pool"], registry=REGISTRY
)
WORKER_KILLS = Counter(
    "visualproof_worker_kills", "Worker processes killed, by pool and why.", ["pool", "why"],
    registry=REGISTRY,
)  # fmt: skip
BACKGROUND_FAILURES = Counter(
    "visualproof_background_failures", "Steps of background work that failed, by task and code.",
    ["task", "code"], registry=REGISTRY,
)  # fmt: skip
READY = Gauge("visualproof_ready", "1 while the service takes documents.", registry=REGISTRY)


DOCUMENTS_WAITING = Gauge(
    "visualproof_documents_waiting", "Documents not yet done.", registry=REGISTRY
)
DOCUMENTS_ASIDE = Gauge(
    "visualproof_documents_aside", "Documents set aside: damaged, or another version's.",
    registry=REGISTRY,
)  # fmt: skip
SLOTS = Gauge("visualproof_slots", "Worker slots, by pool.", ["pool"], registry=REGISTRY)
SLOTS_BUSY = Gauge("visualproof_slots_busy", "Slots at work, by pool.", ["pool"], registry=REGISTRY)
TASKS_WAITING = Gauge(
    "visualproof_tasks_waiting", "Tasks that wait for a slot, by pool.", ["pool"],
    registry=REGISTRY,
)  # fmt: skip


def serve(address: str) -> tuple[WSGIServer, threading.Thread]:
    """Serves /metrics over HTTP at host:port; the caller shuts the server down."""
    host, _, port = address.rpartition(":")
    return start_http_server(int(port), host.strip("[]") or "127.0.0.1", registry=REGISTRY)
