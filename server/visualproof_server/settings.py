"""Every setting, from flags and environment: `--queue-size 8` is VISUALPROOF_QUEUE_SIZE=8."""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any


def _setting(default: Any, help: str, unit: str = "", kind: type[Any] | None = None) -> Any:
    metadata = {"help": help, "unit": unit, "kind": kind or type(default)}
    return field(default=default, metadata=metadata)


# Bytes of one message to the server.
LARGEST_REQUEST = 8 * 1024 * 1024


@dataclass(frozen=True)
class Settings:
    """All settings with their defaults; limits can only be lowered by callers."""

    listen: str = _setting("127.0.0.1:50051", "address and port; port 0 takes a free one")
    data_dir: str = _setting("./visualproof-data", "where documents are kept")
    store_url: str = _setting("", "s3://, gs:// or az:// of a shared store; empty: data-dir")
    workers: int = _setting(os.cpu_count() or 1, "reading processes", "processes")
    page_scheduler: str = _setting(
        "", "tls:// or tcp:// of a Dask scheduler whose workers read pages; empty: workers here"
    )
    verify_workers: int = _setting(1, "processes that verify and draw", "processes")
    engine: str = _setting("", "default OCR engine; empty: auto where both are installed")
    languages: str = _setting("eng", "default languages, joined by +")
    dpi: int = _setting(300, "default resolution of rasterised pages", "dpi")
    max_upload_mb: int = _setting(100, "largest upload, at most 500", "MB")
    max_pages: int = _setting(2000, "most pages of a document", "pages")
    page_megapixels: int = _setting(40, "largest page image", "megapixels")
    page_side: int = _setting(10_000, "longest side of a page image", "pixels")
    page_timeout_s: int = _setting(120, "longest time for one page", "s")
    raster_timeout_s: int = _setting(30, "longest time for drawing a page with one renderer", "s")
    raster_cpu_s: int = _setting(20, "most CPU time for that", "s")
    raster_memory_mb: int = _setting(1024, "address space of the renderer's program", "MB")
    ocr_timeout_s: int = _setting(60, "longest time for one run of Tesseract", "s")
    ocr_cpu_s: int = _setting(60, "most CPU time for one run of Tesseract", "s")
    ocr_memory_mb: int = _setting(1536, "address space of Tesseract", "MB")
    verify_timeout_s: int = _setting(30, "longest time for one verification", "s")
    worker_memory_mb: int = _setting(4096, "address space of a worker and what it starts", "MB")
    worker_rss_mb: int = _setting(2500, "memory in use above which a worker is replaced", "MB")
    min_free_memory_mb: int = _setting(1536, "free memory under which no uploads are taken", "MB")
    min_free_disk_mb: int = _setting(2048, "free disk under which no uploads are taken", "MB")
    worker_tasks: int = _setting(500, "tasks after which a worker is replaced", "tasks")
    queue_size: int = _setting(0, "documents that may wait; 0 means 4 x workers", "documents")
    max_uploads: int = _setting(32, "uploads that are received at once", "uploads")
    max_calls: int = _setting(2000, "calls that may be under way at once", "calls")
    max_request_mb: int = _setting(24, "requests that are held in memory at once", "MB")
    tenant_uploads: int = _setting(0, "uploads of one tenant at once; 0: half", "uploads")
    tenant_calls: int = _setting(0, "calls of one tenant at once; 0: half", "calls")
    tenant_request_mb: int = _setting(0, "requests of one tenant in memory; 0: half", "MB")
    upload_idle_s: float = _setting(30.0, "seconds that an upload may bring nothing", "s")
    retention_hours: float = _setting(24.0, "hours after which a document is deleted", "h")
    grace_s: float = _setting(30.0, "seconds that running calls get at shutdown", "s")
    signing_key: str = _setting("", "PEM file of an Ed25519 key that signs evidence bundles")
    sandbox: str = _setting(
        "auto", "auto takes the layers there are, strict needs all, off takes none"
    )
    isolate: str = _setting(
        "none", "document: a fresh worker for each document; none: workers serve all"
    )
    reflection: bool | None = _setting(
        None, "serve gRPC reflection; if not said, where there are no tokens", kind=bool
    )
    tls_cert: str = _setting("", "PEM file of the certificate chain; read again when it changes")
    tls_key: str = _setting("", "PEM file of its private key")
    tls_client_ca: str = _setting("", "PEM file of the CA that callers' certificates need")
    tokens_file: str = _setting("", "file of tenants and their tokens' SHA-256, one a line")
    tenant_key: str = _setting(
        "", "file of the key of tenants' ids; empty: made in the data folder"
    )
    tenant_queue: int = _setting(0, "documents of one tenant that may wait; 0: half", "documents")
    insecure_bind: bool = _setting(False, "allow a plain-text address off loopback")
    readiness_s: int = _setting(10, "seconds between two looks at whether it is ready", "s")
    metrics_listen: str = _setting("", "host:port of Prometheus metrics over HTTP; empty: none")
    log_level: str = _setting("info", "debug, info, warning or error")

    @property
    def queue(self) -> int:
        return self.queue_size or 4 * self.workers

    @property
    def tenant_waiting(self) -> int:
        return self.tenant_queue or max(1, self.queue // 2)

    @property
    def uploads(self) -> tuple[int, int]:
        """At once, of all and of one tenant."""
        return self.max_uploads, self.tenant_uploads or max(1, self.max_uploads // 2)

    @property
    def calls(self) -> tuple[int, int]:
        """At once, of all and of one tenant."""
        return self.max_calls, self.tenant_calls or max(1, self.max_calls // 2)

    @property
    def request_bytes(self) -> tuple[int, int]:
        """At once, of all and of one tenant."""
        most = self.max_request_mb * 1_000_000
        return most, self.tenant_request_mb * 1_000_000 or most // 2

    @property
    def root(self) -> Path:
        return Path(self.data_dir)


# Names that settings had before; they are taken as ever.
_ALIASES = {"verify_workers": ("desk_workers",)}


def parse(argv: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Flags win over the environment, the environment over defaults; exits 2 with usage on errors."""
    parser = argparse.ArgumentParser(
        prog="visualproof-server",
        description="The visual proof service.",
        epilog="Each flag can be given as an environment variable: --max-pages is VISUALPROOF_MAX_PAGES.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    for setting in fields(Settings):
        names = (setting.name, *_ALIASES.get(setting.name, ()))
        flags = ["--" + name.replace("_", "-") for name in names]
        said = (environment.get("VISUALPROOF_" + name.upper()) for name in names)
        given = next((text for text in said if text is not None), None)
        default: Any = setting.default
        kind: type[Any] = setting.metadata["kind"]
        if given is not None:
            try:
                default = _truth(given) if kind is bool else kind(given)
            except ValueError:
                parser.error(f"VISUALPROOF_{setting.name.upper()} must be a {kind.__name__}")
        if kind is bool:
            parser.add_argument(
                *flags,
                action=argparse.BooleanOptionalAction,
                default=default,
                help=setting.metadata["help"],
            )
        else:
            parser.add_argument(*flags, type=kind, default=default, help=setting.metadata["help"])
    values = vars(parser.parse_args(argv))
    made = Settings(**values)
    problem = _problem(made)
    if problem:
        parser.error(problem)
    return made


def _problem(settings: Settings) -> str:
    if settings.workers < 1 or settings.verify_workers < 1:
        return "workers and verify-workers must be at least 1"
    if settings.page_scheduler and not settings.store_url:
        return "page-scheduler needs a store-url that its workers reach"
    if settings.max_uploads < 1 or settings.max_calls < 1:
        return "max-uploads and max-calls must be at least 1"
    if min(settings.request_bytes) < LARGEST_REQUEST:
        return "max-request-mb must be at least 18, and tenant-request-mb 9: one request must fit"
    if not 1 <= settings.upload_idle_s <= 3600:
        return "upload-idle-s must be 1 to 3600"
    if not 1 <= settings.max_upload_mb <= 500:
        return "max-upload-mb must be 1 to 500"
    if not 72 <= settings.dpi <= 600:
        return "dpi must be 72 to 600"
    if settings.sandbox not in ("auto", "strict", "off"):
        return "sandbox must be auto, strict or off"
    if settings.isolate not in ("none", "document"):
        return "isolate must be none or document"
    if settings.log_level not in ("debug", "info", "warning", "error"):
        return "log-level must be debug, info, warning or error"
    host = settings.listen.rpartition(":")[0].strip("[]")
    if bool(settings.tls_cert) != bool(settings.tls_key):
        return "tls-cert and tls-key go together"
    if settings.tls_client_ca and not settings.tls_cert:
        return "tls-client-ca needs tls-cert and tls-key"
    for name in (
        "tls_cert",
        "tls_key",
        "tls_client_ca",
        "tokens_file",
        "tenant_key",
        "signing_key",
    ):
        file = getattr(settings, name)
        if file and not os.access(file, os.R_OK):
            return f"{name.replace('_', '-')}: {file} cannot be read"
    local = (
        settings.tls_cert
        or host in ("127.0.0.1", "::1", "localhost")
        or settings.listen.startswith("unix:")
    )
    if not local and not settings.insecure_bind:
        return "plain text is served on loopback only; give --tls-cert, or say --insecure-bind"
    return ""


def _truth(text: str) -> bool:
    low = text.strip().lower()
    if low in ("1", "true", "yes", "on"):
        return True
    if low in ("0", "false", "no", "off"):
        return False
    raise ValueError(text)
