"""The Host's own log: on standard error and in files of bounded size and age, as text or JSON, without secrets."""

import json
import logging
import sys
from datetime import UTC, date, datetime
from logging.handlers import RotatingFileHandler
from pathlib import Path

from parlour.core.log_context import with_run
from parlour.core.redaction import REDACTOR

from .settings import LogSettings

TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def one_line(words: str) -> str:
    """Words of others as they are shown to people, also on terminals, which more than words could command."""
    if words.isprintable():
        return words
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in words)


class TextLines(logging.Formatter):
    def __init__(self) -> None:
        super().__init__(TEXT)

    def format(self, record: logging.LogRecord) -> str:
        run_id = getattr(record, "run_id", "")
        line = super().format(record)
        return REDACTOR.clean(f"{line} [run {run_id}]" if run_id else line)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """One line each: what others have said, and is told here, must not look like a line of the Host's own."""
        record.message = one_line(record.message)
        return super().formatMessage(record)


class JsonLines(logging.Formatter):
    """One object a line; a run's `trace_id` is that of its trace."""

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
        return REDACTOR.clean_json(json.dumps(line, ensure_ascii=False))


class DailyFile(RotatingFileHandler):
    """`host.log` is today's; what was written before lies in `host.log.1` and so on. A full disk troubles nobody."""

    def __init__(self, path: Path, files: int, bytes_each: int) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(path, maxBytes=bytes_each, backupCount=files, encoding="utf-8", delay=True)
        self._day = _written_on(path)

    def shouldRollover(self, record: logging.LogRecord) -> int:  # noqa: N802
        today = datetime.fromtimestamp(record.created, UTC).date()
        if self._day is not None and today != self._day:
            self._day = today
            return 1
        self._day = today
        return super().shouldRollover(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Standard error has the line too."""


def keep(settings: LogSettings, folder: Path | None) -> None:
    """From now on. Without a folder, on standard error only."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    if folder is not None:
        handlers.append(DailyFile(folder / "host.log", settings.files, settings.file_bytes))
    for handler in handlers:
        handler.setFormatter(JsonLines() if settings.format == "json" else TextLines())
        handler.addFilter(with_run)
    logging.basicConfig(level=settings.level.upper(), handlers=handlers, force=True)


def _written_on(path: Path) -> date | None:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date() if path.exists() else None
