"""Exercises of chapter 01: latency and bandwidth."""

from __future__ import annotations

from interconnect_lab.exercises.kinds import Choice, Exercise, Function, Quantity, Trap
from interconnect_lab.links import Link

BITS, BOTH, GIB = "bits for bytes", "both directions for one", "GiB for GB"

EXERCISES: tuple[Exercise, ...] = (
    Choice(
        name="guess-256-times-more-data",
        question="An all-reduce on one node of 8 H100 grows from 1 KiB to 256 KiB, 256 times more data. "
        "How much longer does it take?",
        options=("256 times", "16 times", "4 times", "1.2 times"),
        answer="1.2 times",
        hints=("Which part of the time does not depend on size?", "At 1 KiB the bytes take next to no time."),
        solution="from interconnect_lab import specs\n"
        'run = specs.sweep("aic_h100_sxm_nccl2.29.2", op="all_reduce", ranks=8)\n'
        "times = dict(zip(run.nbytes, run.seconds))\n"
        'answer = f"{times[2**18] / times[2**10]:.1f} times"',
        why="Measured: 15.6 µs and 19.15 µs. Below the half-speed size, bytes are almost free.",
        traps=(
            Trap("bandwidth only", "256 times", "That holds when bytes alone cost time; here latency does."),
            Trap("square root", "16 times", "No law of transfer grows with the root of the size."),
            Trap("half each", "4 times", "Some of both, but at these sizes latency is nearly all of it."),
        ),
    ),
    Quantity(
        name="half-size",
        question="A link has 5 µs of latency and 400 Gb/s, one way. At which message size is half of the "
        "time latency?",
        answer="250 kB",
        hints=("Half of the time is latency when latency = size / bandwidth.", "400 Gb/s is 50 GB/s."),
        solution="from interconnect_lab.units import Gbps, us\nanswer = 5 * us * 400 * Gbps",
        why="n½ = latency × bandwidth = 5 µs × 50 GB/s = 250 kB.",
        traps=(
            Trap(BITS, "2 MB", "That is 5 µs × 400 G; but 400 Gb/s counts bits, eight to a byte."),
            Trap(BOTH, "500 kB", "That counts both directions; a message travels one way, at 50 GB/s."),
        ),
    ),
    Function(
        name="write-half-size",
        question="Write a function that returns the half-speed size.",
        signature="def half_size(latency, bandwidth):\n    ...",
        hints=("Set latency equal to size / bandwidth.", "Solve for the size."),
        solution="def answer(latency, bandwidth):\n    return latency * bandwidth",
        why="latency × bandwidth, in seconds × bytes/s = bytes.",
        cases=((5e-6, 50e9), (1e-6, 450e9), (0.0, 1e9)),
        answer=lambda latency, bandwidth: Link(latency, bandwidth, source="reader").half_size,
        traps=(
            Trap("bits for bytes", lambda a, b: a * b * 8, "Eight times too large: bandwidth is in bytes."),
        ),
    ),
)
