"""Pack the publishable sweeps of ``../shared/measurements`` into the package's data, repeatably.

    python tools/pack_measurements.py [--source DIR] [--target DIR]

One row of ``sweeps.csv.gz`` is one curve: what was run, then all sizes and all times.
``sources.csv`` holds only sources whose curves ship; the CC BY-SA licence file lists its curves.
Rows under "facts only" stay out.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median

CLONE = Path(__file__).resolve().parent.parent
SOURCE = CLONE.parent / "shared" / "measurements"
TARGET = CLONE / "interconnect_lab" / "data" / "measurements"

SHIPPED = ("yes", "yes, with attribution", "yes, as facts")
AS_FACTS = "none stated; its figures are cited as facts"
OPS = {"alltoall": "all_to_all", "sendrecv": "send_recv"}
SOURCE_COLUMNS = ("source_id", "url", "hardware", "software", "date", "licence", "terms")
CURVE_COLUMNS = (
    *("name", "op", "ranks", "nodes", "gpu", "intra_link", "inter_link", "software", "note"),
    *("source_id", "nbytes", "microseconds"),
)
# Where the list of sources has a page's title, not its address.
URLS = {
    "dranet-docs": "https://github.com/kubernetes-sigs/dranet",
    "eessi-osu": "https://www.eessi.io/docs/blog/2025/11/14/EESSI-on-Cray-Slingshot",
}
# Points whose time follows from a busbw printed as 0.01 and 0.04: no digit of it can be trusted.
UNRELIABLE = {("b200x32_efa_4n_mleng", 32768), ("b200x32_efa_4n_mleng", 65536)}
UNRELIABLE_NOTE = "32 and 64 KiB left out: derived from a busbw of one digit"
GUESSED_SIZE = "size not stated"

_RUNS = re.compile(r"(median of \d+ runs),? min [\d.]+ max [\d.]+ us")
_SIZE = re.compile(r"^\d+ [KMG]iB;\s*")
_ELSEWHERE = re.compile(r"\s*;?\s*library version in file name|^single size$")
_VERSION = re.compile(r"(?:NCCL|RCCL|oneCCL|OSU \w+(?: D D)?) \d[\d.]*(?<!\.)")
_IN_NAME = re.compile(r"_(nccl|oneccl)(\d[\d.]*\d)")
_STORED = re.compile(r"\s*\(stored-file index [\d, ]+\)|[;,]\s*stored-file index [\d, ]+")

Row = dict[str, str]


def main(arguments: list[str] | None = None) -> int:
    """Write the packed files and say how many curves and points they hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=SOURCE)
    parser.add_argument("--target", type=Path, default=TARGET)
    options = parser.parse_args(arguments)
    if not (options.source / "sources.csv").is_file():
        print(f"there is no sources.csv in {options.source}", file=sys.stderr)
        return 1
    curves = pack(options.source, options.target)
    points = sum(len(curve["nbytes"].split()) for curve in curves)
    print(f"{len(curves)} curves, {points} points")
    return 0


def pack(source: Path, target: Path) -> list[Row]:
    """Read the sweeps of ``source``, write the package's files to ``target``, return the curves."""
    sources = publishable(read_csv(source / "sources.csv"))
    curves = read_curves(source, sources)
    shipped = {curve["source_id"] for curve in curves}
    target.mkdir(parents=True, exist_ok=True)
    sweeps = csv_text(CURVE_COLUMNS, curves).encode()
    (target / "sweeps.csv.gz").write_bytes(gzip.compress(sweeps, compresslevel=9, mtime=0))
    kept = [row for row in sources.values() if row["source_id"] in shipped]
    (target / "sources.csv").write_text(csv_text(SOURCE_COLUMNS, kept), "utf-8", newline="\n")
    by_sa = [c["name"] for c in curves if sources[c["source_id"]]["licence"].startswith("CC-BY-SA")]
    (target / "LICENSE-CC-BY-SA-4.0.md").write_text(by_sa_licence(by_sa), "utf-8", newline="\n")
    return curves


def publishable(rows: Iterable[Row]) -> dict[str, Row]:
    """Return the sources whose tables may ship, by id, their licences in plain words."""
    kept = {}
    for row in rows:
        if row["publishable"] not in SHIPPED:
            continue
        facts = row["publishable"] == "yes, as facts"
        kept[row["source_id"]] = {
            "source_id": row["source_id"],
            "url": URLS.get(row["source_id"], _STORED.sub("", row["url"]).strip()),
            "hardware": row["hardware"],
            "software": row["software_version"],
            "date": row["date"],
            "licence": AS_FACTS if facts else row["licence"],
            "terms": row["publishable"],
        }
    return kept


def read_curves(source: Path, sources: dict[str, Row]) -> list[Row]:
    """Return one row per curve, in the order of the files and of their first lines."""
    curves = []
    for path in sorted(source.glob("*.csv")):
        if path.name == "sources.csv":
            continue
        points: dict[tuple, list[Row]] = defaultdict(list)
        for row in read_csv(path):
            if row["source_id"] in sources and ships(path.stem, row):
                points[configuration(row)].append(row)
        found = [curve(path.stem, rows, sources) for rows in points.values()]
        curves += named(path.stem, found)
    return curves


def ships(stem: str, row: Row) -> bool:
    """Whether a point goes out: out of place, its size stated, its time trustworthy."""
    guessed = GUESSED_SIZE in row["notes"]
    unreliable = (stem, int(row["size_bytes"])) in UNRELIABLE
    return row["out_of_place"] != "no" and not guessed and not unreliable


def configuration(row: Row) -> tuple:
    """What makes two points of a file belong to one curve."""
    fields = ("source_id", "collective", "ngpus", "nnodes", "gpu", "intra_link", "inter_link")
    return (*(row[field] for field in fields), plain_note(row["notes"]))


def plain_note(note: str) -> str:
    """Drop from a note what differs from size to size, or stands elsewhere."""
    note = _ELSEWHERE.sub("", _RUNS.sub(r"\1", _SIZE.sub("", note)))
    return note.replace("half;", "fp16;").strip(" ;,")


def curve(stem: str, rows: list[Row], sources: dict[str, Row]) -> Row:
    """Return the row of one curve; points of one size, measured apart, become their median."""
    times: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        times[int(row["size_bytes"])].append(float(row["time_us"]))
    first, sizes = rows[0], sorted(times)
    note = plain_note(first["notes"])
    runs = max(map(len, times.values()))
    extra = [f"median of {runs} runs"] if runs > 1 else []
    extra += [UNRELIABLE_NOTE] if stem in {name for name, _ in UNRELIABLE} else []
    return {
        "op": OPS.get(first["collective"], first["collective"]),
        "ranks": first["ngpus"],
        "nodes": first["nnodes"],
        "gpu": first["gpu"],
        "intra_link": known(first["intra_link"]),
        "inter_link": known(first["inter_link"]),
        "software": software(stem, first["gpu"], note, sources[first["source_id"]]),
        "note": "; ".join(filter(None, [note, *extra])),
        "source_id": first["source_id"],
        "nbytes": " ".join(map(str, sizes)),
        "microseconds": " ".join(f"{median(times[size]):.7g}" for size in sizes),
    }


def known(link: str) -> str:
    """Return a link's description, empty where there is none to describe."""
    if link.startswith("not stated"):
        return "not stated"
    return "" if link == "n/a" else link


def software(stem: str, gpu: str, note: str, source: Row) -> str:
    """Return the library and version: from the note, else the file's name, else the source."""
    if found := _VERSION.search(note):
        return found[0]
    if found := _IN_NAME.search(stem):
        return f"{'NCCL' if found[1] == 'nccl' else 'oneCCL'} {found[2]}"
    if gpu.startswith("MI") and source["software"].startswith("NCCL"):
        return "RCCL, version not stated"
    return source["software"].replace("see rows", "not stated")


def named(stem: str, curves: list[Row]) -> list[Row]:
    """Name each curve of a file: the stem, then op, ranks and a number where they are needed."""
    parts = [stem]
    for field in ("op", "ranks"):
        if len({curve[field] for curve in curves}) > 1:
            parts.append("{" + field + "}")
    bases = ["/".join(parts).format(**curve) for curve in curves]
    repeated, seen = Counter(bases), Counter()
    result = []
    for base, row in zip(bases, curves, strict=True):
        seen[base] += 1
        result.append({"name": f"{base}/{seen[base]}" if repeated[base] > 1 else base, **row})
    return result


def by_sa_licence(names: list[str]) -> str:
    """Return the text that goes with the curves under CC BY-SA."""
    return "\n".join([*_BY_SA, "", *(f"- `{name}`" for name in names), ""])


_BY_SA = """\
# Curves under CC BY-SA 4.0

The curves listed below are data from **Machine Learning Engineering Open Book** by Stas Bekman,
<https://github.com/stas00/ml-engineering> (commit 744d01e, `network/README.md` and `todo.md`).

They are licensed under the Creative Commons Attribution-ShareAlike 4.0 International licence,
<https://creativecommons.org/licenses/by-sa/4.0/>, and stay so here: whoever passes them on,
changed or not, names the author, links the licence, says what was changed and uses the same
licence. It covers these curves only, not the program that reads them.

Changes: figures were copied from tables into rows of size and time; where only the bus bandwidth
was printed, the time was derived from it; points whose size was not stated, or whose bandwidth
was printed with one digit, were left out.

The curves:""".splitlines()


def read_csv(path: Path) -> list[Row]:
    """Return the lines of a CSV file as dicts."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def csv_text(columns: tuple[str, ...], rows: Iterable[Row]) -> str:
    """Return rows as CSV text with Unix line ends."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    raise SystemExit(main())
