"""The factor-16 trap of chapter 02: one line of a data sheet, and every way to read it wrongly."""

from __future__ import annotations

import math
from typing import NamedTuple

from interconnect_lab import plots
from interconnect_lab.labs.controls import choice, slider
from interconnect_lab.labs.lab import Lab
from interconnect_lab.units import GBps, Gbps, GiB, fmt_rate

TEXT = {
    "preset": "Data sheet",
    "number": "Number",
    "unit": "Unit",
    "direction": "Direction",
    "counted": "Counted for",
    "count": "How many",
    "coding": "Coding",
    "both ways": "both ways",
    "single way": "one way",
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
    """Lab 02.1: a sentence of a data sheet, what one GPU gets of it, and every way to read it wrongly."""

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
