"""The composition root of the server: the only file here that names a store and the pools."""

import asyncio
import contextlib
import fcntl
import functools
import importlib.metadata
import json
import logging
import os
import secrets
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any, TypeVar
from wsgiref.simple_server import WSGIServer

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from visualproof_server import metrics
from visualproof_server._version import __version__
from visualproof_server.answers.service import AnswerService
from visualproof_server.documents.background import every
from visualproof_server.documents.lifecycle import DocumentLifecycle, LifecycleLimits
from visualproof_server.documents.resource_guard import ResourceGuard
from visualproof_server.evidence.signing import Signer
from visualproof_server.model.errors import VisualProofError
from visualproof_server.model.tasks import Describe, Description, Probe
from visualproof_server.rpc import limits
from visualproof_server.rpc.auth import Tokens
from visualproof_server.rpc.options import Defaults
from visualproof_server.rpc.receiving import Receiving
from visualproof_server.rpc.registration import add_to_server
from visualproof_server.rpc.servicer import RequestLimits, ServerFacts, Servicer
from visualproof_server.rpc.tls import credentials
from visualproof_server.rpc.tracing import interceptors
from visualproof_server.settings import LARGEST_REQUEST, Settings
from visualproof_server.storing.asynchronous import AsyncStore
from visualproof_server.storing.disk import DiskStore, own_folder
from visualproof_server.storing.store import DocumentStore
from visualproof_server.workers.pages import LocalPages, PageExecutor
from visualproof_server.workers.pool import WorkerPool, WorkerSettings

log = logging.getLogger("visualproof.app")
T = TypeVar("T")
SERVICE = limits.SERVICE.full_name
_MEGABYTE = 1_000_000
_SEND = 32 * 1024 * 1024
_DRAIN_S = 5.0
_LEAST_KEY = 16
# Calls that have begun, as a multiple of those that are answered.
_BEGUN = 4
_LIBRARIES = ("opencv-python", "pillow", "pypdfium2", "pytesseract", "pdf2image", "rapidfuzz",
              "rapidocr", "onnxruntime", "grpcio", "protobuf")  # fmt: skip


class App:
    """A running service."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        root = settings.root.resolve()
        root.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(root / "lock")
        # Within the data folder, so that the next start sweeps what a killed server left.
        self._incoming, views, self._scratch = (root / n for n in ("incoming", "views", "scratch"))
        for folder in (self._incoming, views, self._scratch):
            shutil.rmtree(folder, ignore_errors=True)
            own_folder(folder)
        store: DocumentStore
        if settings.store_url:
            store = _usable("store-url", _object_store, settings.store_url, root / "cache")
        else:
            store = DiskStore(root / "documents")
            if odd := store.sweep():
                log.warning("odd things in the data folder are left alone", extra={"count": odd})
        self._store = AsyncStore(store)
        worker = WorkerSettings(
            str(views),
            str(self._scratch),
            settings.worker_memory_mb,
            settings.worker_tasks,
            {
                "page_pixels": settings.page_megapixels * _MEGABYTE,
                "page_side": settings.page_side,
                # As ProgramLimits: wall clock, CPU, address space.
                "raster": (
                    settings.raster_timeout_s,
                    settings.raster_cpu_s,
                    settings.raster_memory_mb,
                ),
                "ocr": (settings.ocr_timeout_s, settings.ocr_cpu_s, settings.ocr_memory_mb),
            },
            settings.sandbox,
            settings.worker_rss_mb,
            settings.isolate,
        )
        self._readers = WorkerPool(settings.workers, worker, store, "readers")
        self._signer = None
        if settings.signing_key:
            self._signer = _usable("signing-key", Signer, Path(settings.signing_key))
        self._pages: PageExecutor = LocalPages(self._readers, self._store, settings.page_timeout_s)
        if settings.page_scheduler:
            self._pages = _usable("page-scheduler", _dask_pages, settings, worker, self._pages)
        self._deskers = WorkerPool(settings.verify_workers, worker, store, "desk")
        self._health = health.aio.HealthServicer()
        tokens = Path(settings.tokens_file) if settings.tokens_file else None
        self._tokens = _usable("tokens-file", Tokens, tokens)
        self._server = grpc.aio.server(
            interceptors=[Receiving(SERVICE, self._tokens), *interceptors()],
            options=[
                ("grpc.max_receive_message_length", LARGEST_REQUEST),
                ("grpc.max_send_message_length", _SEND),
                # Below the client's ping interval, or its keep-alive is refused.
                ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
                ("grpc.keepalive_permit_without_calls", 1),
                ("grpc.so_reuseport", 0),
                # What comes before it is asked for is held in memory: no more than 64 kB of a call.
                ("grpc.http2.bdp_probe", 0),
                ("grpc.http2.lookahead_bytes", 65_536),
                # Of one connection, and of all: calls that have not said yet what they want.
                ("grpc.max_concurrent_streams", settings.max_calls),
            ],
            maximum_concurrent_rpcs=_BEGUN * settings.max_calls,
        )
        self.port = 0
        self._queue: DocumentLifecycle | None = None
        self._guard = ResourceGuard(root, settings.min_free_memory_mb, settings.min_free_disk_mb)
        self._watcher: asyncio.Task[None] | None = None
        self._metrics: tuple[WSGIServer, threading.Thread] | None = None

    async def start(self) -> None:
        """Starts workers, takes up unfinished documents, and listens; sets `port`."""
        try:
            description = await asyncio.wrap_future(self._readers.submit(Describe()))
        except VisualProofError as error:
            await asyncio.to_thread(self._readers.close)
            hint = " (--sandbox strict needs landlock and seccomp)"
            strict = self._settings.sandbox == "strict"
            raise SystemExit(f"{error.message}{hint if strict else ''}") from None
        engines = {e.name: e.languages for e in description.engines}
        if not engines:
            raise SystemExit(
                "No OCR engine is installed; on Debian: apt-get install tesseract-ocr poppler-utils"
            )
        default = self._settings.engine or next(iter(engines))
        if default not in engines:
            raise SystemExit(f"Engine {default} is not installed; there is: {', '.join(engines)}")
        settings = self._settings
        exports = self._scratch / "exports"
        exports.mkdir()
        answers = AnswerService(
            self._store, self._deskers, settings.verify_timeout_s, exports, self._signer
        )
        self._queue = DocumentLifecycle(
            self._store,
            self._readers,
            self._pages,
            description.reader_version,
            LifecycleLimits(
                settings.queue,
                settings.tenant_waiting,
                settings.max_pages,
                settings.retention_hours * 3600,
            ),
            answers.warm,
            _usable("tenant-key", _tenant_key, settings) if settings.tokens_file else b"",
            self._guard,
        )
        await self._queue.start()
        facts = await self._facts(description, default)
        servicer = Servicer(
            self._store,
            self._queue,
            answers,
            Defaults(default, tuple(settings.languages.split("+")), settings.dpi, engines),
            facts,
            self._incoming,
            RequestLimits(
                settings.max_upload_mb * _MEGABYTE,
                settings.upload_idle_s,
                settings.uploads,
                settings.calls,
                settings.request_bytes,
            ),
            self._tokens,
        )
        add_to_server(servicer, self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflect = settings.reflection
        if reflect if reflect is not None else not settings.tokens_file:
            names = (SERVICE, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)
        if settings.tls_cert:
            client_ca = Path(settings.tls_client_ca) if settings.tls_client_ca else None
            files = Path(settings.tls_cert), Path(settings.tls_key), client_ca
            secure = _usable("tls-cert", credentials, *files)
            self.port = self._server.add_secure_port(settings.listen, secure)
        else:
            self.port = self._server.add_insecure_port(settings.listen)
        await self._server.start()
        await self._serving(True)
        await self._health.set("", health_pb2.HealthCheckResponse.SERVING)
        period = settings.readiness_s
        look = functools.partial(self._look, default)
        self._watcher = asyncio.create_task(every("readiness", period, look, first_s=period))
        if settings.metrics_listen:
            metrics.DOCUMENTS_WAITING.set_function(
                functools.partial(getattr, self._queue, "waiting")
            )
            self._metrics = _usable("metrics-listen", metrics.serve, settings.metrics_listen)
        log.info("listening", extra={"port": self.port, "workers": settings.workers})

    async def _facts(self, description: Description, default: str) -> ServerFacts:
        """What GetServerInfo says; the default engine comes first."""
        engines = sorted(description.engines, key=lambda e: e.name != default)
        return ServerFacts(
            version=__version__,
            engines=tuple((e.name, e.version, e.languages) for e in engines),
            limits=(*_limits(self._settings), *limits.stated()),
            components=await asyncio.to_thread(_components),
            sandbox=description.sandbox,
            kinds=description.kinds,
            rules_version=description.rules_version,
        )

    async def stop(self) -> None:
        """Says NOT_SERVING at once, lets running calls end, and leaves nothing behind."""
        if self._watcher is not None:
            self._watcher.cancel()
        await self._serving(False)
        await self._health.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
        await self._server.stop(min(self._settings.grace_s, _DRAIN_S))
        await self._server.stop(self._settings.grace_s)
        if self._queue is not None:
            await self._queue.close()
        await self._pages.close()
        await asyncio.to_thread(self._readers.close)
        await asyncio.to_thread(self._deskers.close)
        await asyncio.to_thread(self._store.close)
        if self._metrics is not None:
            self._metrics[0].shutdown()
            self._metrics[0].server_close()
        shutil.rmtree(self._scratch, ignore_errors=True)
        self._lock.close()
        log.info("stopped")

    async def _serving(self, serving: bool) -> None:
        """Readiness, by the service's name; "" is liveness, and holds until the end."""
        metrics.READY.set(serving)
        state = (
            health_pb2.HealthCheckResponse.SERVING
            if serving
            else health_pb2.HealthCheckResponse.NOT_SERVING
        )
        await self._health.set(SERVICE, state)

    async def _look(self, engine: str) -> None:
        """Says NOT_SERVING while no document could be taken or read, and SERVING again after."""
        trouble = await self._trouble(engine)
        if trouble:
            log.warning("not ready", extra={"code": trouble})
        await self._serving(not trouble)

    async def _trouble(self, engine: str) -> str:
        """A code, or empty: floors, the store, and an engine that reads a test page."""
        try:
            await asyncio.to_thread(self._guard.check)
            await self._store.documents()
            if self._readers.busy == 0 and self._readers.waiting == 0:
                # Busy workers show that they live by what they finish.
                probe = self._readers.submit(Probe(engine))
                await asyncio.wrap_future(probe)
        except VisualProofError as error:
            return error.code
        except OSError:
            return "STORE_UNREACHABLE"
        except Exception:
            log.exception("not ready")
            return "INTERNAL"
        return ""


def _locked(file: Path) -> IO[bytes]:
    """Holds the data folder for this process: two servers would sweep each other's work."""
    handle = file.open("wb")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        handle.close()
        raise SystemExit(f"Another server uses {file.parent}; give each a --data-dir.") from None
    return handle


def _usable(flag: str, make: Callable[..., T], *args: Any) -> T:
    """What a setting asks for; ends the program with the setting's name if it cannot be had."""
    try:
        return make(*args)
    except ImportError as error:
        raise SystemExit(f"{flag} needs an extra of visualproof-server ({error.name})") from None
    except (OSError, ValueError, TypeError) as error:
        raise SystemExit(f"{flag}: it cannot be used ({error})") from None


def _object_store(url: str, cache: Path) -> DocumentStore:
    from visualproof_server.storing.objects import ObjectStore

    return ObjectStore(url, cache)


def _dask_pages(settings: Settings, worker: WorkerSettings, local: PageExecutor) -> PageExecutor:
    from visualproof_server.page_worker import read_page
    from visualproof_server.workers.dask_pages import DaskPages

    far = {
        "store_url": settings.store_url,
        "page_timeout_s": settings.page_timeout_s,
        # Folders are the other machine's own.
        "worker": {k: v for k, v in asdict(worker).items() if k not in ("views", "scratch")},
    }
    return DaskPages(settings.page_scheduler, read_page, json.dumps(far), local)


def _tenant_key(settings: Settings) -> bytes:
    """The key of tenants' ids: secret, and the same as long as their documents live."""
    if settings.tenant_key:
        file = Path(settings.tenant_key)
    else:
        file = settings.root / "tenant.key"
        if not file.exists():
            # Whole or not at all: half a key would make other ids.
            made = file.with_suffix(".new")
            made.unlink(missing_ok=True)
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as new:
                new.write(secrets.token_bytes(32))
                os.fsync(handle)
            made.replace(file)
    key = file.read_bytes()
    if len(key) < _LEAST_KEY:
        raise ValueError(f"a key has at least {_LEAST_KEY} bytes; bring it back from the backup")
    return key


def _limits(settings: Settings) -> tuple[tuple[str, int, str], ...]:
    return tuple(
        (setting.name, int(getattr(settings, setting.name)), setting.metadata["unit"])
        for setting in fields(settings)
        if setting.metadata["unit"]
    )


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _components() -> tuple[str, ...]:
    """Versions of what touches documents."""
    found = [f"{name} {version}" for name in _LIBRARIES if (version := _version(name))]
    for command in (["tesseract", "--version"], ["pdftoppm", "-v"]):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            done = subprocess.run(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=10, check=False
            )
            found.append(done.stdout.decode("utf-8", "replace").split("\n", 1)[0].strip())
    return tuple(found)
