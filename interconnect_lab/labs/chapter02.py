"""Labs of chapter 02: which number on the data sheet is the one that a GPU gets?"""

from __future__ import annotations

import math
from typing import NamedTuple

from interconnect_lab import plots
from interconnect_lab.labs.controls import choice, slider
from interconnect_lab.labs.lab import Lab
from interconnect_lab.links import Link
from interconnect_lab.specs import LINKS, LinkSpec
from interconnect_lab.units import GBps, Gbps, GiB, KiB, MiB, fmt_bytes, fmt_rate, fmt_time

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
    "wins": "{size}: {first} has it after {fast}, {second} after {slow}, {factor:.3g} times as long.",
    "tie": "{size}: {first} and {second} both have it after {fast}.",
    "bandwidth decides": "Of the {gap} between them bandwidth makes {transfer}, latency {latency}: "
    "bandwidth decides.",
    "latency decides": "Of the {gap} between them bandwidth makes {transfer}, latency {latency}: "
    "latency decides.",
    "no latency": "No latency is published for {names}: 0 is taken.",
    "layers": "The latencies are of two layers, {first} and {second}, which do not compare.",
    "unmeasured": "No achieved rate is known for {names}: the specified one is taken.",
    "and": " and ",
    # data_sheet_trap
    "preset": "Data sheet",
    "number": "Number",
    "unit": "Unit",
    "direction": "Direction",
    "counted": "Counted for",
    "count": "How many",
    "coding": "Coding",
    "own": "your own sentence",
    "a GPU": "a GPU",
    "a link": "one link of a GPU",
    "a node": "a node of GPUs",
    "coded": "already taken off",
    "coding of": "raw, {share} ({who})",
    "bandwidth": "bandwidth (GB/s, one way per GPU)",
    "truth": "what one GPU gets",
    "trap": "a wrong reading",
    "right": "right",
    "bits for bytes": "bits for bytes",
    "bytes for bits": "bytes for bits",
    "GiB for GB": "GiB for GB",
    "both directions for one": "both directions for one",
    "one direction doubled": "one direction doubled",
    "per link for per GPU": "per link for per GPU",
    "per node for per GPU": "per node for per GPU",
    "raw for usable": "raw for usable",
    "together": "all together",
    "mistake": "{name} {factor}",
    "times": "× {factor:.3g}",
    "over": "÷ {factor:.3g}",
    "sentence": "{preset}: {number} {unit}, {direction}, {scope} means {rate} one way per GPU.",
    "sheet": "“{preset}”",
    "trap row": "{row}: {rate:,g}",
    "per GPU": "per GPU",
    "per link of": "per link ({count} to a GPU)",
    "per node of": "per node (of {count} GPUs)",
    "before coding": ", before coding",
    "mistakes": "Mistakes multiply: {mistakes}.",
    "spread": "All together make {rate}; highest and lowest reading lie a factor {spread:,g} apart.",
}

# ---- link_explorer -----------------------------------------------------------------------------------------

CORE = ("NVLink", "PCIe", "InfiniBand")
KINDS = ("one way", "quoted", "raw", "achieved")
BESIDE = 0.2  # of a row, between two markers


def link_explorer() -> Lab:
    """Lab 02.1: what each generation of a family carries, by the four numbers that people mean."""

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
    link: Link
    transfer: float  # seconds for the bytes
    seconds: float  # with the latency

    @property
    def name(self) -> str:
        rate = fmt_rate(self.link.bandwidth)
        return TEXT["racer"].format(name=self.spec.name, rate=rate, scope=self.spec.scope)


def link_race() -> Lab:
    """Lab 02.2: one message over two links; which has it first, and is it latency or bandwidth?"""

    def draw(ax, first: str, second: str, nbytes: int, rate: str) -> str:
        pair = [_racer(LINKS[name], nbytes, rate) for name in (first, second)]
        last = max(racer.seconds for racer in pair)
        names = [first, TEXT["again"].format(name=second) if second == first else second]
        progress = {name: _progress(racer, last) for name, racer in zip(names, pair, strict=True)}
        plots.race(progress, ax=ax)
        return " ".join(
            [*_outcome(nbytes, *sorted(pair, key=lambda racer: racer.seconds)), *_cautions(pair, rate)]
        )

    names = [name for name, link in LINKS.items() if not link.scope.startswith("switch")]
    rates = [(TEXT[kind], kind) for kind in ("one way", "achieved")]
    return Lab(
        draw,
        margins={"right": 0.95},
        first=choice(TEXT["first"], names, "NVLink 4"),
        second=choice(TEXT["second"], names, "InfiniBand NDR"),
        nbytes=slider(TEXT["size"], SIZES, MiB, fmt_bytes),
        rate=choice(TEXT["rate"], rates, "one way"),
    )


def _racer(spec: LinkSpec, nbytes: int, rate: str) -> Racer:
    bandwidth = spec.achieved if rate == "achieved" and spec.achieved else spec.bandwidth
    link = Link(spec.latency or 0.0, bandwidth, source=spec.source)
    return Racer(spec, link, nbytes / bandwidth, link.time(nbytes))


def _progress(racer: Racer, last: float) -> plots.XY:
    return [0, racer.link.latency, racer.seconds, last], [0, 0, 1, 1]


def _outcome(nbytes: int, fast: Racer, slow: Racer) -> list[str]:
    gap, transfer = slow.seconds - fast.seconds, slow.transfer - fast.transfer
    said = {
        "size": fmt_bytes(nbytes),
        "first": fast.name,
        "second": slow.name,
        "fast": fmt_time(fast.seconds),
    }
    if math.isclose(fast.seconds, slow.seconds):
        return [TEXT["tie"].format(**said)]
    winner = TEXT["wins"].format(**said, slow=fmt_time(slow.seconds), factor=slow.seconds / fast.seconds)
    decides = "bandwidth decides" if transfer > gap - transfer else "latency decides"
    terms = {"transfer": _signed(transfer), "latency": _signed(gap - transfer)}
    return [winner, TEXT[decides].format(gap=fmt_time(gap), **terms)]


def _signed(seconds: float) -> str:
    return fmt_time(seconds).replace("-", "−") if abs(seconds) > 1e-15 else "0 s"


def _cautions(pair: list[Racer], rate: str) -> list[str]:
    first, second = (racer.spec for racer in pair)
    cautions = []
    if silent := [
        spec.name for spec in {first.name: first, second.name: second}.values() if spec.latency is None
    ]:
        cautions.append(TEXT["no latency"].format(names=TEXT["and"].join(silent)))
    elif first.latency_layer != second.latency_layer:
        cautions.append(TEXT["layers"].format(first=first.latency_layer, second=second.latency_layer))
    unknown = [spec.name for spec in {first.name: first, second.name: second}.values() if not spec.achieved]
    if rate == "achieved" and unknown:
        cautions.append(TEXT["unmeasured"].format(names=TEXT["and"].join(unknown)))
    return cautions


# ---- data_sheet_trap ---------------------------------------------------------------------------------------

UNITS = {"Gb/s": Gbps, "GB/s": GBps, "GiB/s": float(GiB)}
CODINGS = {
    "16/17": ("NVLink 4 and 5", 16 / 17),
    "128/130": ("PCIe 3 to 5", 128 / 130),
    "8/10": ("PCIe 1 and 2, SDR to QDR", 8 / 10),
    "64/66": ("FDR and EDR", 64 / 66),
    "242/256": ("PCIe 6 and 7", 242 / 256),
}
NUMBERS = [8, 16, 25, 32, 40, 50, 56, 64, 100, 128, 200, 256, 300, 400, 478.125, 512, 600, 800, 900]
NUMBERS += [1200, 1600, 1800, 3200, 3600]
COUNTS = [1, 2, 4, 6, 8, 12, 16, 18, 36, 72]


class Sentence(NamedTuple):
    """A line of a data sheet: ``number`` ``unit`` in that ``direction``, counted for a link, GPU or node."""

    number: float
    unit: str
    direction: str
    counted: str
    count: int
    coding: str = "coded"

    @property
    def bandwidth(self) -> float:
        """What one GPU gets, one way (bytes/s)."""
        share = CODINGS[self.coding][1] if self.coding in CODINGS else 1.0
        ways = 2 if self.direction == "both ways" else 1
        scale = {"a GPU": 1, "a link": self.count, "a node": 1 / self.count}[self.counted]
        return self.number * UNITS[self.unit] * share * scale / ways

    @property
    def mistakes(self) -> dict[str, float]:
        """By the name of each mistake that this sentence invites, the factor by which it is wrong."""
        found = {"bits for bytes": 8.0} if self.unit == "Gb/s" else {"bytes for bits": 1 / 8}
        if self.unit == "GiB/s":
            found["GiB for GB"] = GBps / GiB
        found["both directions for one" if self.direction == "both ways" else "one direction doubled"] = 2.0
        if self.count > 1 and self.counted == "a link":
            found["per link for per GPU"] = 1 / self.count
        if self.count > 1 and self.counted == "a node":
            found["per node for per GPU"] = float(self.count)
        if self.coding in CODINGS:
            found["raw for usable"] = 1 / CODINGS[self.coding][1]
        return found


PRESETS = {
    "NDR: 400 Gb/s a port": Sentence(400, "Gb/s", "single way", "a link", 1),
    "NVLink 4: 900 GB/s": Sentence(900, "GB/s", "both ways", "a GPU", 18),
    "PCIe 5 x16: 128 GB/s": Sentence(128, "GB/s", "both ways", "a GPU", 1, "128/130"),
    "nvlink -s: 478 GB/s": Sentence(478.125, "GB/s", "single way", "a GPU", 18, "16/17"),
    "H800: 8 links of 50 GB/s": Sentence(50, "GB/s", "both ways", "a link", 8),
    "AWS p5: 3200 Gb/s a node": Sentence(3200, "Gb/s", "single way", "a node", 8),
}


def data_sheet_trap() -> Lab:
    """Lab 02.3: a sentence of a data sheet, what one GPU gets of it, and every way to read it wrongly."""

    def draw(ax, preset: str, **words: object) -> str:
        sentence = Sentence(**words)
        right, mistakes = sentence.bandwidth, sentence.mistakes
        factors = [*mistakes.values(), math.prod(mistakes.values())]
        rows = {_trap_row(TEXT["right"], right): {TEXT["truth"]: right}}
        for name, factor in zip([*mistakes, "together"], factors, strict=True):
            rows[_trap_row(_mistake(name, factor), right * factor)] = {TEXT["trap"]: right * factor}
        plots.rate_bars(rows, label=TEXT["bandwidth"], ax=ax)
        return _trap_reading(preset, sentence)

    return Lab(
        draw,
        margins={"left": 0.34, "right": 0.95},
        more=("counted", "count", "coding"),
        tie=_tie,
        **_trap_controls(),
    )


def _trap_controls() -> dict[str, object]:
    codings = [(TEXT["coding of"].format(share=share, who=who), share) for share, (who, _) in CODINGS.items()]
    first = next(iter(PRESETS.values()))
    return {
        "preset": choice(TEXT["preset"], [*((name, name) for name in PRESETS), (TEXT["own"], "own")]),
        "number": slider(TEXT["number"], NUMBERS, first.number, _number),
        "unit": choice(TEXT["unit"], UNITS, first.unit),
        "direction": choice(
            TEXT["direction"], [(TEXT[way], way) for way in ("single way", "both ways")], first.direction
        ),
        "counted": choice(
            TEXT["counted"], [(TEXT[who], who) for who in ("a GPU", "a link", "a node")], first.counted
        ),
        "count": slider(TEXT["count"], COUNTS, first.count),
        "coding": choice(TEXT["coding"], [(TEXT["coded"], "coded"), *codings], first.coding),
    }


def _tie(moved: str, values: dict[str, object]) -> dict[str, object]:
    """A data sheet fills in the other controls; these say "own" when they no longer spell one."""
    if moved == "preset":
        sentence = PRESETS.get(values["preset"])
        return sentence._asdict() if sentence else {}
    words = {name: value for name, value in values.items() if name != "preset"}
    return {"preset": next((name for name, known in PRESETS.items() if known == Sentence(**words)), "own")}


def _trap_reading(preset: str, sentence: Sentence) -> str:
    mistakes, right = sentence.mistakes, sentence.bandwidth
    counted = {"a GPU": "per GPU", "a link": "per link of", "a node": "per node of"}[sentence.counted]
    scope = TEXT[counted].format(count=sentence.count)
    said = TEXT["sentence"].format(
        preset=TEXT["own"].capitalize() if preset == "own" else TEXT["sheet"].format(preset=preset),
        number=_number(sentence.number),
        unit=sentence.unit,
        direction=TEXT[sentence.direction],
        scope=scope + (TEXT["before coding"] if sentence.coding in CODINGS else ""),
        rate=fmt_rate(right),
    )
    named = TEXT["mistakes"].format(mistakes=", ".join(_mistake(*mistake) for mistake in mistakes.items()))
    together = math.prod(mistakes.values())
    spread = math.prod(max(factor, 1 / factor) for factor in mistakes.values())
    return " ".join(
        [said, named, TEXT["spread"].format(rate=fmt_rate(right * together), spread=float(f"{spread:.3g}"))]
    )


def _trap_row(row: str, rate: float) -> str:
    digits = float(f"{rate / GBps:.3g}")
    return TEXT["trap row"].format(row=row, rate=digits)


def _mistake(name: str, factor: float) -> str:
    said = TEXT["times" if factor >= 1 else "over"].format(factor=max(factor, 1 / factor))
    return TEXT["mistake"].format(name=TEXT[name], factor=said)


def _number(number: float) -> str:
    return f"{number:,.0f}"
