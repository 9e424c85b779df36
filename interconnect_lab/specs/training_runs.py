"""Published training runs: the same model on more and more GPUs, as their sources print them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from interconnect_lab.specs.tables import DATA, Row, check_token, read_table
from interconnect_lab.units import Flops, Seconds

SCALING = ("weak", "strong")


@dataclass(frozen=True, kw_only=True)
class TrainingRun(Row):
    """One published run: ``gpus`` that train with ``global_batch`` sequences a step.

    ``scaling`` says how its family grows: weak (the batch grows with the GPUs) or strong (it stays).
    Exactly one of ``step_seconds``, ``tokens_per_second_per_gpu`` and ``hardware_per_gpu`` (FLOP/s,
    recomputation counted) is given, the one that the source prints. Raises ValueError otherwise.
    """

    family: str
    scaling: str
    gpus: int
    accelerator: str
    global_batch: int
    year: int
    step_seconds: Seconds | None = None
    tokens_per_second_per_gpu: float | None = None
    hardware_per_gpu: Flops | None = None

    def __post_init__(self) -> None:
        Row.__post_init__(self)
        check_token("scaling", self.scaling, SCALING)
        if self.gpus < 1 or self.global_batch < 1:
            raise ValueError(
                f"'gpus' and 'global_batch' must be 1 or more; got {self.gpus}, {self.global_batch}"
            )
        figures = (self.step_seconds, self.tokens_per_second_per_gpu, self.hardware_per_gpu)
        if sum(bool(figure) for figure in figures) != 1:
            raise ValueError(f"one figure is wanted: step, tokens/s or FLOP/s; got {figures!r}")

    @property
    def speed(self) -> float:
        """Work that one GPU does in a second; its unit is the family's own, so only ratios mean something."""
        if self.step_seconds:
            return self.global_batch / self.step_seconds / self.gpus
        return self.tokens_per_second_per_gpu or self.hardware_per_gpu


@cache
def training_runs(scaling: str | None = None) -> dict[str, tuple[TrainingRun, ...]]:
    """Return the published runs by family, each from its fewest GPUs to its most.

    ``scaling`` leaves only the families that grow so; ValueError where it is neither weak nor strong.

    >>> [run.gpus for run in training_runs()["MPT 1B"]]
    [128, 256, 512]
    """
    if scaling is not None:
        check_token("scaling", scaling, SCALING)
    families: dict[str, list[TrainingRun]] = {}
    rows = read_table(DATA / "training_runs.toml", "training_run", TrainingRun).values()
    for run in sorted(rows, key=lambda run: run.gpus):
        if scaling in (None, run.scaling):
            families.setdefault(run.family, []).append(run)
    return {family: tuple(runs) for family, runs in families.items()}


def relative_speed(runs: tuple[TrainingRun, ...]) -> tuple[float, ...]:
    """Return the speed of one GPU in each run, as a share of that in the first.

    >>> [round(share, 3) for share in relative_speed(training_runs()["MPT 1B"])]
    [1.0, 0.964, 0.903]
    """
    return tuple(run.speed / runs[0].speed for run in runs)
