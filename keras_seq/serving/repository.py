"""The models that are served: loaded, warmed up, replaced, drained.

A thread looks at the folders. A new version is loaded and warmed up beside the
old one; only when it can answer does it become the latest, and only when the
old one has answered its last request is that let go.
"""

import contextlib
import dataclasses
import logging
import threading
from collections.abc import Callable, Iterator

from keras_seq.serving.batcher import Batcher
from keras_seq.serving.batching_options import BatchingOptions
from keras_seq.serving.memory import give_back, settle
from keras_seq.serving.model_folders import find_models, fingerprint
from keras_seq.serving.servable import Servable
from keras_seq.serving.serving_error import (
    no_such_label,
    no_such_servable,
    no_such_versions,
)
from keras_seq.serving.warmup import warm_up

LOADING, AVAILABLE, UNLOADING, END = (
    "LOADING",
    "AVAILABLE",
    "UNLOADING",
    "END",
)
_log = logging.getLogger("keras_seq.serving")


@dataclasses.dataclass(eq=False)
class Version:
    """A version of a model and where it is in its life.

    Attributes:
        name: Name of the model.
        number: The version.
        state: As TensorFlow Serving calls it.
        error: Why it ended, if something went wrong.
        servable: The model, while it can answer.
        batcher: Its queue, while it can answer.
        users: How many requests are using it.
    """

    name: str
    number: int
    state: str = LOADING
    error: str = ""
    servable: Servable | None = None
    batcher: Batcher | None = None
    users: int = 0
    seen: tuple = ()


class ModelRepository:
    """Models by name and version.

    Args:
        folders: Folders of models, or of versions.
        batching: How requests are put together.
        keep: How many of the newest versions are served; None for all.
        labels: `{name: {label: version}}`.
        poll_seconds: How often the folders are looked at.
        observe: Called with name of the model and size of each batch.
        owns_process: Whether nothing else runs in this process, so that its
            memory may be put in order when models come and go.
    """

    def __init__(
        self,
        folders,
        batching: BatchingOptions | None = None,
        keep: int | None = 1,
        labels: dict[str, dict[str, int]] | None = None,
        poll_seconds: float = 2.0,
        observe: Callable[[str, int], None] = lambda name, size: None,
        owns_process: bool = False,
    ):
        if keep is not None and keep < 1:
            raise ValueError(f"`keep` must be at least 1. Received: {keep}")
        self._folders = list(folders)
        self._batching = batching or BatchingOptions()
        self._keep = keep
        self._labels = labels or {}
        self._poll_seconds = poll_seconds
        self._observe = observe
        self._owns_process = owns_process
        self._versions: dict[str, dict[int, Version]] = {}
        self._free = threading.Condition()  # guards all of the above
        self._stopping = threading.Event()
        self._scanned = False
        self._thread = None

    def start(self) -> None:
        """Begin to look at the folders, in a thread."""
        self._thread = threading.Thread(
            target=self._watch, name="keras-seq-repository", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Answer what is queued and let all models go."""
        self._stopping.set()
        if self._thread:
            self._thread.join()
        for versions in self._versions.values():
            for version in versions.values():
                self._unload(version)

    @property
    def is_ready(self) -> bool:
        """Whether each model that was found has a version that answers."""
        with self._free:
            return (
                self._scanned
                and bool(self._versions)
                and all(
                    any(v.state == AVAILABLE for v in versions.values())
                    for versions in self._versions.values()
                )
            )

    @property
    def names(self) -> list[str]:
        """Names of the models, whatever their state."""
        with self._free:
            return sorted(self._versions)

    def has(self, name: str) -> bool:
        """Whether there is a model of this name, whatever its state."""
        return name in self._versions

    def waiting(self, name: str) -> int:
        """Return how many requests wait for a model."""
        with self._free:
            versions = self._versions.get(name, {}).values()
            return sum(v.batcher.waiting for v in versions if v.batcher)

    def status(
        self, name: str, number: int | None = None, label: str | None = None
    ) -> list[Version]:
        """Return all versions of a model, newest first, or the one named."""
        with self._free:
            versions = self._versions.get(name)
            number = self._labelled(name, number, label)
            if not versions or (number is not None and number not in versions):
                raise no_such_versions(name, number)
            if number is not None:
                return [dataclasses.replace(versions[number])]
            return [
                dataclasses.replace(versions[n])
                for n in sorted(versions, reverse=True)
            ]

    @contextlib.contextmanager
    def use(
        self, name: str, number: int | None = None, label: str | None = None
    ) -> Iterator[Version]:
        """Lend a version that can answer; it is not let go meanwhile.

        Args:
            name: Name of the model.
            number: The version; default: the newest.
            label: A label for a version.

        Raises:
            ServingError: 404 if there is none, 400 for an unknown label.
        """
        with self._free:
            version = self._find(name, number, label)
            version.users += 1
        try:
            yield version
        finally:
            with self._free:
                version.users -= 1
                self._free.notify_all()

    def scan(self) -> None:
        """Look at the folders once; load what is new, drain what is old."""
        for name, folders in find_models(self._folders).items():
            self._scan_model(name, folders)
        gone = set(self.names) - set(find_models(self._folders))
        for name in gone:
            self._scan_model(name, {})
            with self._free:
                del self._versions[name]
        self._scanned = True

    def _scan_model(self, name, folders):
        numbers = sorted(folders, reverse=True)
        labelled = set(self._labels.get(name, {}).values())
        wanted = [
            n
            for place, n in enumerate(numbers)
            if self._keep is None or place < self._keep or n in labelled
        ]
        with self._free:
            versions = self._versions.setdefault(name, {})
        for number in wanted:
            self._load(versions, name, number, folders[number])
        with self._free:
            answer = any(
                versions[n].state == AVAILABLE for n in wanted if n in versions
            )
            old = [
                v
                for n, v in versions.items()
                if v.state == AVAILABLE and n not in wanted
            ]
        # While the new one does not answer, the old one has to - unless its
        # folder was taken away.
        for version in old:
            if answer or version.number not in folders:
                self._unload(version)

    def _load(self, versions, name, number, folder):
        old = versions.get(number)
        if old and old.state == AVAILABLE:
            return
        try:
            seen = fingerprint(folder)
        except OSError:  # it is being moved: next time
            return
        if old and old.state == END and old.seen == seen:
            return  # it has failed, and nothing has changed
        version = Version(name, number, seen=seen)
        with self._free:
            versions[number] = version
        try:
            servable = Servable(name, number, folder)
            warmed = warm_up(servable, self._batching.max_batch_size)
        except Exception as error:  # whatever a folder may hold
            with self._free:
                version.state, version.error = END, str(error)[:500]
            _log.error("cannot load %s/%s: %s", name, number, version.error)
            return
        if self._owns_process:
            settle()
        batcher = Batcher(
            servable.run,
            servable.signatures,
            self._batching,
            lambda size: self._observe(name, size),
        )
        with self._free:
            version.servable, version.batcher = servable, batcher
            version.state = AVAILABLE
        _log.info("loaded %s/%s, %s warm-up requests", name, number, warmed)

    def _unload(self, version):
        with self._free:
            if version.state != AVAILABLE:
                return
            version.state = UNLOADING
            self._free.wait_for(lambda: version.users == 0)
        version.batcher.close()
        with self._free:
            version.state, version.servable, version.batcher = END, None, None
        if self._owns_process:
            give_back()
        _log.info("unloaded %s/%s", version.name, version.number)

    def _find(self, name, number, label):
        versions = self._versions.get(name, {})
        number = self._labelled(name, number, label)
        able = [
            n
            for n, v in versions.items()
            if v.state == AVAILABLE and number in (None, n)
        ]
        if not able:
            raise no_such_servable(name, number)
        return versions[max(able)]

    def _labelled(self, name, number, label):
        if label is None or name not in self._versions:
            return number
        if label not in self._labels.get(name, {}):
            raise no_such_label(label)
        return self._labels[name][label]

    def _watch(self):
        while not self._stopping.is_set():
            try:
                self.scan()
            except Exception as error:  # a folder that cannot be read today
                _log.error("cannot look at the folders: %s", error)
            self._stopping.wait(self._poll_seconds)
