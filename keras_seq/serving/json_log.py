"""Log records as lines of JSON, as collectors of logs read them."""

import json
import logging
import sys


class JsonFormatter(logging.Formatter):
    """Writes a record as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line.

        >>> record = logging.LogRecord("a", 20, "", 0, "hi", (), None)
        >>> json.loads(JsonFormatter().format(record))["event"]
        'hi'
        """
        said = {
            "time": round(record.created, 3),
            "level": record.levelname,
            "event": record.getMessage(),
            "logger": record.name,
        }
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said, ensure_ascii=False)


def log_as_json() -> None:
    """Write all that this process logs to the standard error, as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
