"""Errors of the fits over the published curves: two numbers, then lines that join.

``python -m tools.fit_report`` prints the table. An error is a curve's mean of |model / measured - 1|;
held out means that every other size was fitted and the sizes between them were predicted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from interconnect_lab import specs
from interconnect_lab.links import Fit, fit_link, fit_piecewise
from interconnect_lab.specs import Sweep
from interconnect_lab.units import KiB, MiB

MIN_SIZES = 20
MIDDLE = (64 * KiB, 8 * MiB)  # where protocols and algorithms change
MODELS = {2: "two numbers (α, B)", 4: "two lines that join", 6: "three lines that join"}


@dataclass(frozen=True)
class Errors:
    """Over curves, the median and the 90th percentile of a model's mean error, fitted and held out.

    ``worst_in_middle`` is the share of curves whose largest error stands from 64 KiB to 8 MiB.
    """

    model: str
    parameters: int
    curves: int
    median: float
    p90: float
    held_out_median: float
    held_out_p90: float
    worst_in_middle: float


def fit_errors(parameters: int, curves: Iterable[Sweep] | None = None) -> Errors:
    """Return the errors of one model over ``curves``, by default all with ``MIN_SIZES`` sizes or more."""
    curves = specs.sweeps(min_sizes=MIN_SIZES) if curves is None else tuple(curves)
    fits = [fitted(curve.nbytes, curve.seconds, parameters) for curve in curves]
    fitted_errors = [fit.mean_error for fit in fits]
    held_out = [held_out_error(curve, parameters) for curve in curves]
    middle = [MIDDLE[0] <= fit.worst_size <= MIDDLE[1] for fit in fits]
    return Errors(
        MODELS.get(parameters, "lines that join"),
        parameters,
        len(fits),
        *_median_and_p90(fitted_errors),
        *_median_and_p90(held_out),
        float(np.mean(middle)),
    )


def fitted(nbytes: np.ndarray, seconds: np.ndarray, parameters: int) -> Fit:
    """Fit two numbers with ``fit_link``, more with ``fit_piecewise``."""
    if parameters == 2:
        return fit_link(nbytes, seconds)
    return fit_piecewise(nbytes, seconds, max_parameters=parameters)


def held_out_error(curve: Sweep, parameters: int) -> float:
    """The mean error at every other size (the second, the fourth, …), which the fit has not seen."""
    model = fitted(curve.nbytes[::2], curve.seconds[::2], parameters).link
    return Fit(model, curve.nbytes[1::2], curve.seconds[1::2]).mean_error


def report(rows: Iterable[Errors]) -> str:
    """The table as text, errors in percent."""
    head = ("model", "numbers", "median", "p90", "held out", "p90", "worst in middle")
    lines = ["{:<24}{:>9}{:>9}{:>9}{:>11}{:>9}{:>18}".format(*head)]
    lines += [
        f"{row.model:<24}{row.parameters:>9}{row.median:>9.1%}{row.p90:>9.1%}"
        f"{row.held_out_median:>11.1%}{row.held_out_p90:>9.1%}{row.worst_in_middle:>18.0%}"
        for row in rows
    ]
    return "\n".join(lines)


def _median_and_p90(errors: list[float]) -> tuple[float, float]:
    return float(np.median(errors)), float(np.percentile(errors, 90))


def main() -> None:
    """Print the table."""
    rows = [fit_errors(parameters) for parameters in MODELS]
    print(f"Mean error of time over {rows[0].curves} published curves of {MIN_SIZES} sizes or more.")
    print(report(rows))


if __name__ == "__main__":
    main()
