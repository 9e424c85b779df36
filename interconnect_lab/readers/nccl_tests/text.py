"""The text that nccl-tests and rccl-tests print, whatever a launcher and a page put around it."""

from __future__ import annotations

from interconnect_lab.readers.nccl_tests import banner, failures, rows
from interconnect_lab.readers.nccl_tests.runs import Note, Run
from interconnect_lab.readers.reading import Document
from interconnect_lab.units import GBps

_DEBUG = ("NCCL INFO", "NCCL WARN", "NCCL TRACE", "NCCL CALL", "NCCL ABORT")
_LONGEST_LINE = 4000  # characters, of any line but a header


class TextReader:
    """Reads line after line into ``runs``, in order, and ``notes``, ``version``, ``failures``.

    ``failures`` are codes of launches that did not get as far as to print anything of their own,
    ``programs`` the tests that any command names.
    """

    def __init__(self, document: Document) -> None:
        self.runs: list[Run] = []
        self.notes: list[Note] = []
        self.version: str | None = None
        self.failures: list[str] = []
        self.programs: set[str] = set()
        self._commands: set[str] = set()
        self._needles = failures.needles_in(document.text)
        for number, line in enumerate(document.lines, start=1):
            if line and not line.isspace():
                self._take(line, number)
        self._finish()

    @property
    def run(self) -> Run | None:
        """The run that is being read."""
        return self.runs[-1] if self.runs else None

    def _take(self, line: str, number: int) -> None:
        if "|" in line or "│" in line:  # docker compose, a table of a page
            line = line.replace("|", " ").replace("│", " ")
        before_debug = _before_debug(line)
        if before_debug is not None:
            tokens = rows.tokens_of(before_debug)
            if len(tokens) > 2 and not self._take_row(tokens, before_debug, number):
                self._take_around(before_debug[:_LONGEST_LINE], number)
            self._take_failure(line[:_LONGEST_LINE], number)
            return
        tokens = rows.tokens_of(line)
        if not self._take_row(tokens, line, number) and not self._take_header(line, number):
            self._take_failure(line[:_LONGEST_LINE], number)
            self._take_around(line[:_LONGEST_LINE], number)

    # ---- the table -------------------------------------------------------------------------------

    def _take_row(self, tokens: list[str], line: str, number: int) -> bool:
        """Read a row, a part of one or a row of a form; False where the line is none of them."""
        run = self.run
        if run is None or run.columns is None:
            run = self._run_without_header(tokens, number)
        if run is None or run.columns is None:
            return False
        if run.partial and rows.go_on(run.partial, tokens, run.columns):
            self._finish_full_row(run)
            return True
        partial = rows.row(tokens, number, run.columns)
        if partial is None or not (partial.halves or partial.has_known_type()):
            return self._take_orphan(run.columns, tokens, number)
        if run.closed:
            run = self._start(number, run.columns)
        self.notes += run.finish_row()
        if not partial.halves and rows.is_placeholder(tokens):
            run.placeholders += 1
            return True
        partial.only_in_place = rows.has_blank_half(line)
        run.partial = partial
        self._finish_full_row(run)
        return True

    def _run_without_header(self, tokens: list[str], number: int) -> Run | None:
        """The run of a whole row of today's layout where no header stands, if its numbers agree."""
        partial = rows.row(tokens, number, rows.MODERN) if "-1" in tokens else None
        if partial is None or len(partial.halves) < 2 or not _agrees(partial.finished()):
            return None
        run = self.run or self._start(number)
        run.columns = rows.MODERN
        self.notes.append((number, "rows without a header: read as nccl-tests prints today"))
        return run

    def _take_orphan(self, columns: rows.Columns, tokens: list[str], number: int) -> bool:
        if not rows.is_orphan(tokens, columns):
            return False
        row = rows.shown(tokens)
        self.notes.append((number, f"the beginning of the row {row} is lost: left out"))
        return True

    def _finish_full_row(self, run: Run) -> None:
        if run.partial and run.columns and len(run.partial.halves) == len(run.columns.halves):
            self.notes += run.finish_row()

    def _take_header(self, line: str, number: int) -> bool:
        """Read a header or its row of units; False where the line is neither."""
        run = self.run
        if "algbw" in line and "busbw" in line:
            columns = rows.header(line)
            if columns:
                run = run if run and not run.has_begun() else self._start(number)
                run.columns = columns
            return columns is not None
        if run is None or run.columns is None or run.has_begun() or "/s)" not in line:
            return False
        run.columns = run.columns.with_units(line[:_LONGEST_LINE])
        return True

    # ---- around the table ------------------------------------------------------------------------

    def _take_around(self, line: str, number: int) -> None:
        """Read a line that may stand above or below a table."""
        commands = banner.commands_in(line)
        if commands:
            self._take_commands(commands)
        stage = banner.stage_of(line)
        if stage is not None:
            run = self._run_of_banner(stage, line.strip(), number)
            run.program = run.program or banner.program_in(line)
        self.version = self.version or banner.version_in(line)
        self._take_device(line, number)
        self._take_footer(line, number)

    def _take_commands(self, commands: set[str]) -> None:
        """A command belongs to the run that is waiting for its rows, else to the next."""
        self.programs |= commands
        run = self.run
        if run is None or run.rows or run.closed:
            self._commands |= commands
        else:
            run.commands |= commands

    def _run_of_banner(self, stage: int, line: str, number: int) -> Run:
        """The run of a line of a banner: the same text again is another process of the same run."""
        run = self.run
        if run is None or run.columns or run.closed:
            run = self._start(number)
        elif stage <= max(run.seen, default=-1):
            again = run.seen.get(stage) in (None, line)
            run = run if again and not run.failures else self._start(number)
        run.seen[stage] = line
        return run

    def _take_device(self, line: str, number: int) -> None:
        device = banner.device_in(line)
        if device is None:
            return
        run = self.run
        run = run if run and not run.columns else self._start(number)
        run.devices.append(device)
        if device.gpu.endswith("..."):
            self.notes.append((number, "the list of ranks is cut"))

    def _take_footer(self, line: str, number: int) -> None:
        footer = banner.footer_in(line)
        if footer is None and "Collective test concluded" not in line:
            return
        words, value = footer or ("", None)
        run = self.run or (None if value is None else self._start(number))
        if run is None:
            return
        if words == banner.AVERAGE:
            run.avg_busbw = None if value is None else value * GBps
        elif value is not None and value.is_integer():
            run.out_of_bounds = int(value)
        run.program = run.program or banner.program_in(line)
        run.closed = True
        self.notes += run.finish_row()

    def _take_failure(self, line: str, number: int) -> None:
        code = failures.code_of(line, self._needles) if self._needles else None
        run = self.run
        if code is None:
            return
        if run is None or (run.closed and code == failures.USAGE):
            self.failures.append(code)
            return
        if (run.rows or run.closed) and not run.failures:
            error = rows.shown(line.split())
            self.notes.append((number, f"an error beside a table with numbers: {error}"))
        run.failures.append(code)

    # ---- runs ------------------------------------------------------------------------------------

    def _start(self, number: int, columns: rows.Columns | None = None) -> Run:
        if self.run:
            self.notes += self.run.finish_table()
        self.runs.append(Run(number, commands=self._commands, columns=columns))
        self._commands = set()
        return self.runs[-1]

    def _finish(self) -> None:
        """End the last table; errors before the first run are its own: they are not buffered."""
        if not self.run:
            return
        self.notes += self.run.finish_table()
        if self.runs[0].rows:
            self.failures = [code for code in self.failures if code == failures.USAGE]
        else:
            self.runs[0].failures += self.failures


def _before_debug(line: str) -> str | None:
    """What stands before debug output on the same line; None where there is no such output."""
    if "NCCL " not in line:
        return None
    places = [place for place in (line.find(mark) for mark in _DEBUG) if place >= 0]
    return line[: min(places)] if places else None


def _agrees(row: rows.Row) -> bool:
    """Whether size over time is the printed algbw, to the rounding of both."""
    timing = row.out_of_place
    if timing is None or not timing.seconds or timing.algbw is None:
        return False
    return abs(row.nbytes / timing.seconds - timing.algbw) <= 0.01 * timing.algbw + 0.01 * GBps
