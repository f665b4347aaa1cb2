"""A store on objects: S3, GCS or Azure, by obstore; shared by any number of servers."""

import contextlib
import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore as Bucket
from obstore.store import from_url

from visualproof_server.model.errors import VisualProofError, of_system
from visualproof_server.storing.disk import checked
from visualproof_server.storing.sealed import AS_THEY_ARE, opened, sealed

if TYPE_CHECKING:
    from obstore.store import RetryConfig

# Documents whose blobs are kept on the local disk, for tasks that come again and again.
_KEPT = 64
_DELETE_ROUNDS = 3
# What is written once; the rest changes and is never kept.
_FINAL = ("source", "reading", "page-", "pages.json", "words.json.z")


class ObjectStore:
    """Implements DocumentStore over a URL such as s3://bucket/prefix; credentials are the
    environment's (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...).

    cache is a local folder of this server alone. Objects appear whole or not at all; calls are tried
    again for retry_s seconds.
    """

    shared = True

    def __init__(self, url: str, cache: Path, retry_s: int = 10) -> None:
        retry: RetryConfig = {"max_retries": 5, "retry_timeout": timedelta(seconds=retry_s)}
        self._bucket: Bucket = from_url(url, retry_config=retry)
        self._cache = cache
        self._kept: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(parents=True)

    def put(self, document_id: str, name: str, data: bytes) -> None:
        self._write(checked(document_id, name), sealed(document_id, name, data))

    def adopt(self, document_id: str, name: str, file: Path) -> None:
        self._write(checked(document_id, name), file)
        file.unlink(missing_ok=True)

    def get(self, document_id: str, name: str) -> bytes | None:
        kept = self._kept_file(document_id, name)
        stored = kept.read_bytes() if kept else self._stored(checked(document_id, name))
        return None if stored is None else opened(document_id, name, stored)

    def _stored(self, path: Path) -> bytes | None:
        """An object as it is, None if there is none."""
        try:
            return bytes(obstore.get(self._bucket, path.as_posix()).bytes())
        except FileNotFoundError:
            return None
        except BaseError as error:
            raise self._unreachable(error) from None

    def has(self, document_id: str, name: str) -> bool:
        try:
            obstore.head(self._bucket, checked(document_id, name).as_posix())
        except FileNotFoundError:
            return False
        except BaseError as error:
            raise self._unreachable(error) from None
        return True

    def names(self, document_id: str) -> set[str]:
        prefix = f"{checked(document_id).as_posix()}/"
        return {path.removeprefix(prefix) for path in self._paths(prefix)}

    def documents(self) -> list[str]:
        try:
            found = obstore.list_with_delimiter(self._bucket)["common_prefixes"]
        except BaseError as error:
            raise self._unreachable(error) from None
        return sorted(name.strip("/").rpartition("/")[2] for name in found)

    def delete(self, document_id: str) -> None:
        prefix = f"{checked(document_id).as_posix()}/"
        # Once more for what another server was just writing.
        for _ in range(_DELETE_ROUNDS):
            paths = self._paths(prefix)
            if not paths:
                break
            # What says that there is a document goes first.
            paths.sort(key=lambda path: not path.endswith("/state.json"))
            self._delete(paths)
        self._forget(document_id)

    def remove(self, document_id: str, names: Iterable[str]) -> None:
        self._delete([checked(document_id, name).as_posix() for name in names])
        for name in names:
            (self._cache / checked(document_id, name)).unlink(missing_ok=True)

    def stage(self, document_id: str, names: Iterable[str] | None, folder: Path) -> None:
        if names is None:
            # All are named, so that it is seen when a document is gone; listing is slow, so that
            # reading a page of a long one, which asks by name, does without.
            names = self.names(document_id)
            if "state.json" not in names:
                self._forget(document_id)
        target = folder / checked(document_id)
        try:
            target.mkdir(exist_ok=True)
            for name in sorted(names):
                self._local(document_id, name, target / name)
        except OSError as error:
            raise of_system(error) or error from None
        with self._lock:
            self._kept[document_id] = None
            self._kept.move_to_end(document_id)
            old = [self._kept.popitem(last=False)[0] for _ in range(len(self._kept) - _KEPT)]
        for other in old:
            shutil.rmtree(self._cache / other, ignore_errors=True)

    def _local(self, document_id: str, name: str, target: Path) -> None:
        kept = self._kept_file(document_id, name)
        if kept is None:
            kept = self._cache / checked(document_id, name)
            data = self._stored(checked(document_id, name))
            if data is None:
                return
            if not name.startswith(_FINAL):
                target.write_bytes(data)
                return
            kept.parent.mkdir(exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=kept.parent)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, kept)
        with contextlib.suppress(FileExistsError):
            os.link(kept, target)

    def _kept_file(self, document_id: str, name: str) -> Path | None:
        """A blob that is kept here, if it is and is whole."""
        kept = self._cache / checked(document_id, name)
        try:
            if name not in AS_THEY_ARE:
                opened(document_id, name, kept.read_bytes())
            return kept if kept.exists() else None
        except FileNotFoundError:
            return None
        except VisualProofError:
            # The store has it.
            kept.unlink(missing_ok=True)
            return None

    def _write(self, path: Path, data: bytes | Path) -> None:
        try:
            obstore.put(self._bucket, path.as_posix(), data)
        except (BaseError, OSError) as error:
            raise self._unreachable(error) from None

    def _delete(self, paths: list[str]) -> None:
        for path in paths:
            try:
                obstore.delete(self._bucket, path)
            except FileNotFoundError:
                continue
            except BaseError as error:
                raise self._unreachable(error) from None

    def _paths(self, prefix: str) -> list[str]:
        try:
            return [item["path"] for batch in obstore.list(self._bucket, prefix) for item in batch]
        except BaseError as error:
            raise self._unreachable(error) from None

    def _forget(self, document_id: str) -> None:
        shutil.rmtree(self._cache / document_id, ignore_errors=True)
        with self._lock:
            self._kept.pop(document_id, None)

    @staticmethod
    def _unreachable(error: Exception) -> VisualProofError:
        # The type only: a message may hold an address with a key in it.
        kind = type(error).__name__
        return VisualProofError(
            "STORE_UNREACHABLE",
            f"The store does not answer ({kind}); try again.",
            retry_after_s=5.0,
        )
