"""Labs of chapter 02: which number on the data sheet is the one that a GPU gets?"""

from __future__ import annotations

import math
from typing import NamedTuple

from interconnect_lab import plots
from interconnect_lab.labs.controls import choice, slider
from interconnect_lab.labs.lab import Lab
from interconnect_lab.links import Link
from interconnect_lab.specs import LINKS, LinkSpec
from interconnect_lab.units import GBps, GiB, KiB, MiB, fmt_bytes, fmt_rate, fmt_time

TEXT = {
    # link_explorer
    "family": "Family",
    "show": "Rate",
    "scope": "Scope",
    "every": "all four",
    "one way": "one way, usable",
    "quoted": "as vendors quote it",
    "raw": "on the wire, one way",
    "achieved": "achieved, one way",
    "device": "per device",
    "link": "per link",
    "rates": "bandwidth (GB/s)",
    "rates claimed": "bandwidth (GB/s)   * announced, or no product seen",
    "row": "{name}, {year}",
    "claimed row": "{row}*",
    "row with rate": "{row}: {rate:,.4g}",
    "both ways": "both ways",
    "single way": "one way",
    "legend quoted": "as vendors quote it ({ways})",
    "newest": "The newest here is {name} ({year}), {scope}: {rates}. Source: {kind}, {grade}.",
    "of one way": "{rate} one way",
    "of quoted": "vendors print {quote}",
    "of raw": "{rate} on the wire before coding",
    "of achieved": "{rate} achieved ({share:.0%})",
    "per": "per {scope}",
    "per of links": "per {scope} ({links} links)",
    "unsplit": "per {scope} (how it splits into links is not published)",
    "no raw": "raw rate not published",
    "no achieved": "no achieved rate known",
    "grade A": "grade A (vendor or standards owner)",
    "grade B": "grade B (secondary source)",
    "grade C": "grade C (not verified)",
    "left out": "{count} of {rows} rows have no marker: that rate is not published.",
    "nothing": "No row of this family has that rate: the picture shows the usable one.",
    # link_race
    "first": "First link",
    "second": "Second link",
    "size": "Message size",
    "rate": "Rate",
    "again": "{name}, again",
    "racer": "{name} ({rate} per {scope})",
    "wins": "{size}: {first} has it after {fast}, {second} after {slow}, {factor} times as long.",
    "tie": "{size}: {first} and {second} both have it after {fast}.",
    "bandwidth decides": "Of the {gap} between them bandwidth makes {transfer}, latency {latency}: "
    "bandwidth decides.",
    "latency decides": "Of the {gap} between them bandwidth makes {transfer}, latency {latency}: "
    "latency decides.",
    "bytes": "{size}: the bytes alone take {fast} over {first} and {slow} over {second}, "
    "{factor} times as long.",
    "same bytes": "{size}: the bytes alone take {fast} over both.",
    "no latency": "No latency is published for {names}.",
    "open": "Bandwidth alone makes {transfer} of difference; without both latencies the race is open.",
    "layers": "The latencies are of two layers, “{first}” and “{second}”, which do not compare: "
    "bandwidth alone makes {transfer} of difference.",
    "bound": "The latency of {name} is an upper bound: it may be first.",
    "unmeasured": "No achieved rate is known for {names}: the specified one is taken.",
    "and": " and ",
    # layers of a latency
    "NCCL-step": "NCCL step",
    "RDMA-1B": "host to host, 1 byte",
    "CPU-e2e-64B": "CPU to CPU, 64 bytes",
    "GPU-p2p": "GPU to GPU",
    "adapter": "adapter",
    "switch": "switch",
    "hop": "hop from chip to chip",
}

# ---- link_explorer -----------------------------------------------------------------------------------------

CORE = ("NVLink", "PCIe", "InfiniBand")
KINDS = ("one way", "quoted", "raw", "achieved")
BESIDE = 0.2  # of a row, between two markers


def link_explorer() -> Lab:
    """Lab 02.2: what each generation of a family carries, by the four numbers that people mean."""

    def draw(ax, family: str, show: str, scope: str) -> str:
        rows = [link for link in LINKS.values() if link.family == family]
        kinds = KINDS if show == "every" else (show,)
        rates = _rates(rows, kinds, scope)
        drawn = rates if any(rates.values()) else _rates(rows, ("one way",), scope)
        claimed = any(link.kind == "claimed" for link in rows)
        plots.rate_bars(drawn, label=TEXT["rates claimed" if claimed else "rates"], apart=BESIDE, ax=ax)
        reading = [_newest(max(rows, key=lambda link: link.year or 0), kinds, scope)]
        empty = sum(not row for row in rates.values())
        if drawn is not rates:
            reading.append(TEXT["nothing"])
        elif empty:
            reading.append(TEXT["left out"].format(count=empty, rows=len(rows)))
        return " ".join(reading)

    families = dict.fromkeys((*CORE, *(link.family for link in LINKS.values())))
    return Lab(
        draw,
        margins={"left": 0.31, "right": 0.95, "top": 0.84},
        family=choice(TEXT["family"], families, "NVLink"),
        show=choice(TEXT["show"], [(TEXT[kind], kind) for kind in ("every", *KINDS)], "every"),
        scope=choice(TEXT["scope"], [(TEXT[scope], scope) for scope in ("device", "link")], "device"),
    )


def _rates(rows: list[LinkSpec], kinds: tuple[str, ...], scope: str) -> dict[str, dict[str, float]]:
    """Rates by row and kind, under the names that the picture shows; what is not published is left out."""
    ways = {_ways(link) for link in rows}
    names = {kind: TEXT[kind] for kind in KINDS}
    if len(ways) == 1:
        names["quoted"] = TEXT["legend quoted"].format(ways=ways.pop())
    rates = {}
    for link in rows:
        known = {kind: rate for kind in kinds if (rate := _rate(link, kind, scope)) is not None}
        alone = next(iter(known.values()), None) if len(kinds) == 1 else None
        rates[_row(link, alone)] = {names[kind]: rate for kind, rate in known.items()}
    return rates


def _rate(link: LinkSpec, kind: str, scope: str) -> float | None:
    """One of the four rates in bytes/s, of the device or of one of its links; None if not published."""
    quoted_links = link.links or 1 if link.quoted.endswith("per link") else 1
    rate = {
        "one way": link.bandwidth,
        "quoted": link.quoted_rate * quoted_links,
        "raw": link.raw_bandwidth,
        "achieved": link.achieved,
    }[kind]
    if rate is None or scope == "device":
        return rate
    return rate / link.links if link.links else None


def _row(link: LinkSpec, rate: float | None) -> str:
    """A row's name, starred where it is announced, with the rate if that stands alone, else the year."""
    name = TEXT["claimed row"].format(row=link.name) if link.kind == "claimed" else link.name
    if rate is not None:
        return TEXT["row with rate"].format(row=name, rate=rate / GBps)
    return TEXT["row"].format(name=name, year=link.year) if link.year else name


def _newest(link: LinkSpec, kinds: tuple[str, ...], scope: str) -> str:
    if scope == "link" and not link.links:
        scope, text = "device", TEXT["unsplit"]
    else:
        text = TEXT["per of links"] if scope == "device" and (link.links or 1) > 1 else TEXT["per"]
    said = link.per_link().scope if scope == "link" else link.scope
    kinds = tuple(dict.fromkeys(("one way", *kinds)))
    return TEXT["newest"].format(
        name=link.name,
        year=link.year,
        scope=text.format(scope=said, links=link.links),
        rates="; ".join(_said(link, kind, scope) for kind in kinds),
        kind=link.kind,
        grade=TEXT[f"grade {link.confidence}"],
    )


def _said(link: LinkSpec, kind: str, scope: str) -> str:
    rate = _rate(link, kind, scope)
    if rate is None:
        return TEXT[f"no {kind}"]
    quote = link.quoted if scope == "device" else f"{fmt_rate(rate)} {_ways(link)}"
    return TEXT[f"of {kind}"].format(rate=fmt_rate(rate), quote=quote, share=link.efficiency)


def _ways(link: LinkSpec) -> str:
    return TEXT["both ways" if link.both_ways else "single way"]


# ---- link_race ---------------------------------------------------------------------------------------------

SIZES = [64, KiB, 4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB, 64 * MiB, 256 * MiB]
SIZES += [GiB, 4 * GiB, 16 * GiB]


class Racer(NamedTuple):
    spec: LinkSpec
    link: Link  # without latency where the two do not compare
    transfer: float  # seconds for the bytes
    seconds: float  # with the latency

    @property
    def name(self) -> str:
        rate = fmt_rate(self.link.bandwidth)
        return TEXT["racer"].format(name=self.spec.name, rate=rate, scope=self.spec.scope)


def link_race() -> Lab:
    """Lab 02.3: one message over two links; which has it first, and is it latency or bandwidth?"""

    def draw(ax, first: str, second: str, nbytes: int, rate: str) -> str:
        specs = LINKS[first], LINKS[second]
        pair = [_racer(spec, nbytes, rate, _compare(*specs)) for spec in specs]
        last = max(racer.seconds for racer in pair)
        names = [first, TEXT["again"].format(name=second) if second == first else second]
        progress = {name: _progress(racer, last) for name, racer in zip(names, pair, strict=True)}
        plots.race(progress, ax=ax)
        fast, slow = sorted(pair, key=lambda racer: racer.seconds)
        outcome = _outcome if _compare(*specs) else _bytes_alone
        return " ".join([*outcome(nbytes, fast, slow), *_unmeasured(specs, rate)])

    names = [name for name, link in LINKS.items() if not link.scope.startswith("switch")]
    rates = [(TEXT[kind], kind) for kind in ("one way", "achieved")]
    return Lab(
        draw,
        margins={"right": 0.95},
        first=choice(TEXT["first"], names, "NVLink 4"),
        second=choice(TEXT["second"], names, "PCIe 5"),
        nbytes=slider(TEXT["size"], SIZES, MiB, fmt_bytes),
        rate=choice(TEXT["rate"], rates, "one way"),
    )


def _compare(first: LinkSpec, second: LinkSpec) -> bool:
    """Whether both latencies are published, and at the same layer."""
    return None not in (first.latency, second.latency) and first.latency_layer == second.latency_layer


def _racer(spec: LinkSpec, nbytes: int, rate: str, compare: bool) -> Racer:
    bandwidth = spec.achieved if rate == "achieved" and spec.achieved else spec.bandwidth
    link = Link(spec.latency if compare else 0.0, bandwidth, source=spec.source)
    return Racer(spec, link, nbytes / bandwidth, link.time(nbytes))


def _progress(racer: Racer, last: float) -> plots.XY:
    return [0, racer.link.latency, racer.seconds, last], [0, 0, 1, 1]


def _outcome(nbytes: int, fast: Racer, slow: Racer) -> list[str]:
    """Who has the message first, by how much, and whether latency or bandwidth makes the difference."""
    said = _said_of(nbytes, fast, slow)
    if math.isclose(fast.seconds, slow.seconds):
        return [TEXT["tie"].format(**said)]
    gap, transfer = slow.seconds - fast.seconds, slow.transfer - fast.transfer
    decides = "bandwidth decides" if transfer > gap - transfer else "latency decides"
    terms = {"transfer": _signed(transfer), "latency": _signed(gap - transfer)}
    outcome = [TEXT["wins"].format(**said), TEXT[decides].format(gap=fmt_time(gap), **terms)]
    if slow.spec.latency_is_bound and slow.transfer < fast.seconds:
        outcome.append(TEXT["bound"].format(name=slow.spec.name))
    return outcome


def _bytes_alone(nbytes: int, fast: Racer, slow: Racer) -> list[str]:
    """What bandwidth says of the race, and why it is all that can be said."""
    said = _said_of(nbytes, fast, slow)
    even = math.isclose(fast.seconds, slow.seconds)
    transfer = _signed(0.0 if even else slow.transfer - fast.transfer)
    outcome = [TEXT["same bytes" if even else "bytes"].format(**said)]
    if silent := dict.fromkeys(racer.spec.name for racer in (fast, slow) if racer.spec.latency is None):
        outcome.append(TEXT["no latency"].format(names=TEXT["and"].join(silent)))
        return [*outcome, TEXT["open"].format(transfer=transfer)]
    layers = {"first": TEXT[fast.spec.latency_layer], "second": TEXT[slow.spec.latency_layer]}
    return [*outcome, TEXT["layers"].format(**layers, transfer=transfer)]


def _said_of(nbytes: int, fast: Racer, slow: Racer) -> dict[str, str]:
    factor = slow.seconds / fast.seconds
    return {
        "size": fmt_bytes(nbytes),
        "first": fast.name,
        "second": slow.name,
        "fast": fmt_time(fast.seconds),
        "slow": fmt_time(slow.seconds),
        "factor": f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}",
    }


def _signed(seconds: float) -> str:
    return fmt_time(seconds).replace("-", "−") if abs(seconds) > 1e-15 else "0 s"


def _unmeasured(specs: tuple[LinkSpec, ...], rate: str) -> list[str]:
    unknown = dict.fromkeys(spec.name for spec in specs if not spec.achieved)
    if rate == "achieved" and unknown:
        return [TEXT["unmeasured"].format(names=TEXT["and"].join(unknown))]
    return []
