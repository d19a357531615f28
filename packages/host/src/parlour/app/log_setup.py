"""Sets up the Host's own log: on standard error and in files of limited size and age, as text or JSON, redacted."""

import json
import logging
import sys
from datetime import UTC, date, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from parlour.core.log_context import add_run_id
from parlour.core.redaction import Redactor

from .settings import HostSettings, LogSettings, secret_values

TEXT_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def escape_unprintable(text: str) -> str:
    """Escapes unprintable characters of foreign text, which could otherwise control the terminal that shows it."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class TextLogFormatter(logging.Formatter):
    """Formats records as text, one line each, without secrets."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(TEXT_FORMAT)
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        run_id = getattr(record, "run_id", "")
        line = super().format(record)
        return self._redactor.redact(f"{line} [run {run_id}]" if run_id else line)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Formats the message as one line, so that foreign text in it can't look like a log line of its own."""
        record.message = escape_unprintable(record.message)
        return super().formatMessage(record)


class JsonLogFormatter(logging.Formatter):
    """Formats records as JSON, one object per line. `trace_id` of a run is the id of its trace."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        run_id = getattr(record, "run_id", "")
        if run_id:
            line |= {"run_id": run_id, "trace_id": run_id.replace("-", "")}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return self._redactor.redact_json(json.dumps(line, ensure_ascii=False))


class DailyFileHandler(RotatingFileHandler):
    """Starts a new file each day: `host.log` is today's, older ones are `host.log.1` and so on.

    Write errors, such as a full disk, are ignored.
    """

    def __init__(self, path: Path, files: int, bytes_each: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, maxBytes=bytes_each, backupCount=files, encoding="utf-8", delay=True)
        self._day = _last_written_day(path)

    def shouldRollover(self, record: logging.LogRecord) -> int:  # noqa: N802
        today = datetime.fromtimestamp(record.created, UTC).date()
        if self._day is not None and today != self._day:
            self._day = today
            return 1
        self._day = today
        return super().shouldRollover(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Ignores the error: the line was written to standard error too."""


def build_redactor(settings: HostSettings) -> Redactor:
    """Builds the redactor of a process, which knows the secrets of the settings."""
    redactor = Redactor()
    for secret in secret_values(settings):
        redactor.add_secret(secret)
    return redactor


def configure_logging(settings: LogSettings, folder: Path | None, redactor: Redactor) -> None:
    """Installs the log handlers. Without a folder, the log goes only to standard error."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if folder is not None:
        handlers.append(DailyFileHandler(folder / "host.log", settings.files, settings.file_bytes))
    for handler in handlers:
        handler.setFormatter(JsonLogFormatter(redactor) if settings.format == "json" else TextLogFormatter(redactor))
        handler.addFilter(add_run_id)
    logging.basicConfig(level=settings.level.upper(), handlers=handlers, force=True)


def _last_written_day(path: Path) -> date | None:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date() if path.exists() else None
