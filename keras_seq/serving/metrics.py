"""What a server counts, in Prometheus's text format."""

import prometheus_client as prometheus


class Metrics:
    """Counters of one server; two servers in a process do not share them."""

    content_type = prometheus.CONTENT_TYPE_LATEST

    def __init__(self):
        self._known = {}  # looking labels up takes longer than counting
        self._registry = prometheus.CollectorRegistry()
        self._requests = prometheus.Counter(
            "keras_seq_requests",
            "Requests that were answered",
            ["model", "method", "status"],
            registry=self._registry,
        )
        self._seconds = prometheus.Histogram(
            "keras_seq_request_seconds",
            "Time from the first byte of a request to its answer",
            ["model", "method"],
            registry=self._registry,
        )
        self._batches = prometheus.Histogram(
            "keras_seq_batch_requests",
            "Requests that shared a call of the model",
            ["model"],
            buckets=(1, 2, 4, 8, 16, 32, 64, 128),
            registry=self._registry,
        )
        self._waiting = prometheus.Gauge(
            "keras_seq_queue_requests",
            "Requests that wait",
            ["model"],
            registry=self._registry,
        )

    def answered(self, model: str, method: str, status: int, seconds: float):
        """Count a request; `model` must be one that exists, or "none"."""
        key = model, method, status
        if key not in self._known:
            self._known[key] = (
                self._requests.labels(model, method, str(status)),
                self._seconds.labels(model, method),
            )
        requests, histogram = self._known[key]
        requests.inc()
        histogram.observe(seconds)

    def batch(self, model: str, requests: int) -> None:
        """Count a batch."""
        self._batches.labels(model).observe(requests)

    def text(self, waiting: dict[str, int]) -> bytes:
        """Return all of it; `waiting` is the queue of each model."""
        for model, requests in waiting.items():
            self._waiting.labels(model).set(requests)
        return prometheus.generate_latest(self._registry)
