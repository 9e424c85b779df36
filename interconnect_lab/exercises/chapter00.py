"""Exercises of chapter 00: the parts of a training step."""

from __future__ import annotations

from interconnect_lab.exercises.kinds import Choice, Exercise, Function, Order, Quantity, Trap

BITS, ELEMENT, FORGOTTEN = "bits for bytes", "bytes per element", "forgotten overlap"
GAIN, GIB, INVERSE = "gain for factor", "GiB for GB", "the wrong way round"

# The running example: 8 nodes of 8 GPUs, 2 GB of gradients on each, 100 ms of compute; see labs.chapter00.
MODEL = "from interconnect_lab.labs.chapter00 import all_reduce_time, step\n"
POOR = MODEL + "network = all_reduce_time(2e9, gpus=64, nics=1)\n"


def _step_time(compute: float, network: float, overlap: float) -> float:
    return compute + max(0, network - overlap * compute * 2 / 3)


EXERCISES: tuple[Exercise, ...] = (
    Choice(
        name="guess-eight-nics-a-node",
        question="64 GPUs stand in 8 nodes, servers of 8 GPUs. Each GPU has a network card (NIC) of its own, "
        "of 50 GB/s one way. A step computes for 100 ms; then 2 GB of gradients on each GPU must be summed "
        "over all 64. How long do the GPUs wait for the network?",
        options=("4.4 ms", "12 ms", "40 ms", "79 ms"),
        answer="12 ms",
        hints=("How many NICs does a node have?", "A sum moves almost twice its 2 GB."),
        solution=MODEL + 'answer = f"{all_reduce_time(2e9, gpus=64, nics=8) * 1e3:.0f} ms"',
        why="11.6 ms: the eight NICs of a node share the work.",
        traps=(
            Trap("link inside the node", "4.4 ms", "2 GB over 450 GB/s is the link inside a node."),
            Trap(
                "bytes over bandwidth", "40 ms", "2 GB over 50 GB/s: one NIC, bytes once. A node has eight."
            ),
            Trap(
                "one NIC for eight", "79 ms", "That is right for one NIC a node; here eight share the work."
            ),
        ),
    ),
    Choice(
        name="guess-one-nic-a-node",
        question="The same 64 GPUs and 2 GB, but now each node has a single NIC, again of 50 GB/s. "
        "How long do the GPUs wait?",
        options=("12 ms", "40 ms", "79 ms", "630 ms"),
        answer="79 ms",
        hints=("All that leaves a node now leaves through one NIC.", "A sum moves almost twice its 2 GB."),
        solution=POOR + 'answer = f"{network * 1e3:.0f} ms"',
        why="78.75 ms: 2 · 63/64 · 2 GB over 50 GB/s. The step takes 1.6 times as long as with eight.",
        traps=(
            Trap("same data sheet, same time", "12 ms", "The NIC is as fast as before, but it is alone."),
            Trap(
                "bytes over bandwidth", "40 ms", "2 GB over 50 GB/s: but a sum moves its bytes almost twice."
            ),
            Trap(BITS, "630 ms", "Eight times too long: 50 GB/s counts bytes, not bits."),
        ),
    ),
    Quantity(
        name="gradient-bytes-fp32",
        question="A model has 7·10⁹ parameters; its gradients are kept in fp32. How many bytes of gradients "
        "does one GPU hold?",
        answer="28 GB",
        hints=("There is one gradient number for each parameter.", "A number in fp32 takes 4 bytes."),
        solution="from interconnect_lab.labs.chapter00 import gradient_bytes\n"
        "answer = gradient_bytes(7e9, bytes_per_element=4)",
        why="7·10⁹ numbers of 4 bytes are 28 GB.",
        traps=(
            Trap(ELEMENT, "14 GB", "That is 2 bytes a number, as in bf16; fp32 takes 4."),
            Trap("elements for bytes", "7 GB", "That counts one byte a number; fp32 takes 4."),
            Trap(BITS, "224 GB", "224 Gbit are 28 GB: fp32 has 32 bits, which are 4 bytes."),
            Trap(GIB, "26.1 GB", "That divides by 2³⁰: 26.1 GiB, which are 28 GB."),
            Trap(GIB, "28 GiB", "28 GiB are 30.1 GB; 28·10⁹ bytes are 28 GB."),
        ),
    ),
    Quantity(
        name="efficiency-of-30-ms",
        question="A step computes for 100 ms; then the GPUs wait 30 ms for the network. What is its "
        "efficiency, the share of the step in which the GPUs compute?",
        answer="76.9 %",
        tolerance=0.01,
        hints=("How long is the whole step?", "Divide 100 ms by that."),
        solution="from interconnect_lab.labs.chapter00 import step\nanswer = step(0.100, 0.030).efficiency",
        why="100 ms of 130 ms: 76.9 %.",
        traps=(
            Trap("share of compute", "70 %", "That takes the 30 ms from 100; but the step is 130 ms long."),
            Trap("what is lost", "23.1 %", "That is the share in which they wait."),
        ),
    ),
    Quantity(
        name="two-nics-a-node",
        question="Give each of the 8 nodes two NICs of 50 GB/s, one way, which both run at full rate. Leave "
        "latency out. How long does it take until all 64 GPUs hold the sum of 2 GB of gradients?",
        answer="39.4 ms",
        tolerance=0.005,
        hints=("Two NICs share the work: 100 GB/s a node.", "2 · 63/64 of the 2 GB must leave each node."),
        solution=MODEL + "answer = all_reduce_time(2e9, gpus=64, nics=2)",
        why="2 · 63/64 · 2 GB over 100 GB/s is 39.4 ms, half of what one NIC takes.",
        traps=(
            Trap(
                "bytes over bandwidth", "20 ms", "2 GB over 100 GB/s; a sum moves its bytes 2 · 63/64 times."
            ),
            Trap("2 for 2 · 63/64", "40 ms", "That is 2 · 2 GB over 100 GB/s; with 64 GPUs it is 2 · 63/64."),
            Trap("one NIC for two", "78.75 ms", "That is one NIC a node."),
            Trap("both directions for one", "19.7 ms", "That adds both directions of each NIC."),
        ),
    ),
    Quantity(
        name="idle-gpus-with-one-nic",
        question="With one NIC a node the step computes for 100 ms and waits 78.75 ms, and all 64 GPUs wait "
        "together. Suppose instead that some of the 64 stood idle for the whole step and the others never. "
        "How many idle ones would waste as much?",
        answer="28.2",
        hints=("In which share of the step do they wait?", "Take that share of 64."),
        solution=POOR + "answer = step(0.100, network).idle(64)",
        why="78.75 of 178.75 ms is 44.1 %; 44.1 % of 64 GPUs are 28.2.",
        traps=(
            Trap("share of compute", "50.4", "That divides by the 100 ms of compute, not by the whole step."),
            Trap("the busy ones", "35.8", "That is how many work; the question asks for the idle ones."),
        ),
    ),
    Quantity(
        name="least-wait-with-overlap",
        question="With one NIC a node the sum takes 78.75 ms. Of the 100 ms of compute the backward "
        "pass takes 66.7 ms, and only that can hide the network. How long do the GPUs wait at least?",
        answer="12.1 ms",
        tolerance=0.01,
        hints=(
            "How much of the 78.75 ms finds room behind the backward pass?",
            "What hides is the shorter of the two; the rest is waited for.",
        ),
        solution=POOR + "answer = step(0.100, network, overlap=1).waiting",
        why="78.75 − 66.67 = 12.1 ms are left.",
        traps=(
            Trap("overlap hides all", "0 ms", "Only the backward pass can hide it, and it is shorter."),
            Trap(FORGOTTEN, "78.75 ms", "That is the wait with nothing hidden."),
            Trap(
                "hiding behind forward",
                "45.4 ms",
                "Forward is 33.3 ms, and there are no gradients yet.",
            ),
        ),
    ),
    Quantity(
        name="efficiency-with-overlap",
        question="What is the efficiency of that step, with 66.7 of the 78.75 ms hidden behind 100 ms of "
        "compute?",
        answer="89.2 %",
        tolerance=0.003,
        hints=("What is hidden adds nothing to the step.", "The step takes 100 + 12.1 ms."),
        solution=POOR + "answer = step(0.100, network, overlap=1).efficiency",
        why="100 of 112.1 ms: 89.2 %, almost what eight NICs a node give without overlap (89.6 %).",
        traps=(
            Trap(FORGOTTEN, "55.9 %", "That is 100 of 178.75 ms, with nothing hidden."),
            Trap(
                "eight NICs for one",
                "89.6 %",
                "That is eight NICs a node and nothing hidden: near, but another cluster.",
            ),
            Trap("overlap hides all", "100 %", "12.1 ms find no room behind the backward pass."),
            Trap("share of compute", "87.9 %", "That is 1 − 12.1/100; divide by the whole step."),
        ),
    ),
    Quantity(
        name="speed-up-of-faster-gpus",
        question="With one NIC a node a step is 100 ms of compute and 78.75 ms of waiting, no "
        "overlap. New GPUs compute twice as fast. By which factor do steps get faster?",
        answer="1.39",
        tolerance=0.01,
        hints=("What do the new GPUs leave as it is?", "Compare 178.75 ms with 50 + 78.75 ms."),
        solution=POOR + "answer = step(0.100, network).time / step(0.050, network).time",
        why="178.75 / 128.75 = 1.39: the network's 78.75 ms stay.",
        traps=(
            Trap("compute only", "2", "That would hold if nobody ever waited."),
            Trap("eight NICs for one", "1.81", "That is the cluster with eight NICs a node."),
            Trap(INVERSE, "0.72", "That is new time over old time."),
            Trap(GAIN, "39 %", "39 % is what is gained; as a factor it is 1.39."),
        ),
    ),
    Quantity(
        name="ceiling-of-steps-per-second",
        question="With one NIC a node the sum takes 78.75 ms, and new GPUs compute for 50 ms. Suppose "
        "that all of the communication could hide. How many steps a second are possible at most?",
        answer="12.7",
        tolerance=0.01,
        hints=(
            "Each step needs 78.75 ms of network and 50 ms of compute. Which one sets the pace?",
            "If all of it hides, a step takes as long as the longer of the two.",
        ),
        solution=POOR + "answer = 1 / max(0.050, network)",
        why="The network cannot start on the next sum before this one is done: 1 / 78.75 ms = 12.7 a second.",
        traps=(
            Trap("compute only", "20", "That is 1 / 50 ms; but the network is not ready so soon."),
            Trap(FORGOTTEN, "7.77", "That adds both; with perfect overlap the longer one counts."),
        ),
    ),
    Function(
        name="write-step-time",
        question="Write a function that returns the seconds of one step. `overlap` is the share of the "
        "backward pass that can hide the network; the backward pass is two thirds of `compute`.",
        signature="def step_time(compute, network, overlap):\n    ...",
        hints=(
            "At most overlap · compute · 2/3 of the network's time is hidden.",
            "Waiting is never below 0.",
        ),
        solution="def answer(compute, network, overlap):\n"
        "    return compute + max(0, network - overlap * compute * 2 / 3)",
        why="Compute, and what is left of the network's time once the backward pass has hidden its share.",
        cases=((0.1, 0.07875, 0), (0.1, 0.07875, 1), (0.3, 0.0116, 0.5), (0.05, 0.08, 0.4)),
        answer=_step_time,
        traps=(
            Trap(FORGOTTEN, lambda c, n, o: c + n, "You add both and hide nothing."),
            Trap(
                "negative waiting",
                lambda c, n, o: c + n - o * c * 2 / 3,
                "Where the network is short, your waiting turns negative: hidden time is not given back.",
            ),
            Trap(
                "hiding behind forward",
                lambda c, n, o: c + max(0, n - o * c),
                "You hide behind all of compute; before the backward pass there are no gradients.",
            ),
            Trap("perfect overlap", lambda c, n, o: max(c, n), "That holds if all of it could hide."),
        ),
    ),
    Order(
        name="rank-three-remedies",
        question="One NIC a node, 100 ms of compute, 78.75 ms of network, nothing hidden. Each change "
        "is made alone. Order them by the step that they give, shortest first: `faster GPUs` (twice as "
        "fast), `second NIC` (in each node), `overlap` (all of the backward pass).",
        answer=("overlap", "faster GPUs", "second NIC"),
        hints=("Compute all three steps.", "Faster GPUs: 50 + 78.75 ms. A second NIC: 100 + 39.4 ms."),
        solution=POOR + "halved = all_reduce_time(2e9, gpus=64, nics=2)\n"
        'times = {"faster GPUs": step(0.050, network).time, "second NIC": step(0.100, halved).time}\n'
        'times["overlap"] = step(0.100, network, overlap=1).time\n'
        "answer = tuple(sorted(times, key=times.get))",
        why="112.1, 128.8 and 139.4 ms; and overlap costs no hardware.",
        traps=(
            Trap(
                "buying GPUs first",
                ("faster GPUs", "overlap", "second NIC"),
                "Faster GPUs save 50 ms, overlap hides 66.7.",
            ),
            Trap(
                "network first",
                ("overlap", "second NIC", "faster GPUs"),
                "A second NIC saves 39.4 ms, faster GPUs 50.",
            ),
        ),
    ),
    Quantity(
        name="eight-nodes-same-batch",
        question="On one node a step takes 107.3 ms: 100 of compute, 7.3 of network inside the node. Eight "
        "nodes with eight NICs each share the same batch: 12.5 ms of compute, 11.6 of network. How "
        "many times as fast are steps now?",
        answer="4.45",
        tolerance=0.01,
        hints=(
            "Add up the step of the eight nodes.",
            "Then divide the old step by the new one, network included in both.",
        ),
        solution=MODEL + "one = step(0.100, all_reduce_time(2e9, gpus=8, nics=8))\n"
        "eight = step(0.100 / 8, all_reduce_time(2e9, gpus=64, nics=8))\n"
        "answer = one.time / eight.time",
        why="107.3 / 24.1 = 4.45 with eight times the GPUs (4.46 before rounding): compute shrinks, the "
        "network part does not.",
        traps=(
            Trap("compute only", "8", "Compute falls eightfold, the network's time does not."),
            Trap("weak scaling", "7.69", "That lets the batch grow with the nodes; here it stays."),
            Trap("network left out", "8.58", "That leaves the network out of the eight nodes' step."),
        ),
    ),
)
