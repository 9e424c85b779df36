"""Commands for a clone of the course, on any system: ``python -m interconnect_lab lab``."""

from __future__ import annotations

import argparse
import os
import secrets
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

CLONE = Path(__file__).resolve().parent.parent
FIRST_CHAPTER = "notebooks/00_start_here.ipynb"
FIRST_PORT, PORTS = 8888, 50

STYLE = (("ruff", "check", "."), ("ruff", "format", "--check", "."))
NBVAL = ("--nbval", "--nbval-current-env", "--nbval-cell-timeout=300")
NO_BROWSER = ("--ignore=tests/browser",)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status; what is missing is said on stderr."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except CommandError as missing:
        print(f"{missing}", file=sys.stderr)
        return 1


class CommandError(RuntimeError):
    """What a command needs and did not find."""


def lab(options: argparse.Namespace) -> int:
    """Serve JupyterLab on the first chapter until it is stopped, and print its URL."""
    _need("jupyterlab", "JupyterLab")
    if not (CLONE / FIRST_CHAPTER).is_file():
        raise CommandError(f"{FIRST_CHAPTER} is not here: run this in a clone of the course.")
    from jupyterlab.labapp import LabApp

    port, token = _free_port(options.port), secrets.token_urlsafe(18)
    url = f"http://localhost:{port}/lab/tree/{FIRST_CHAPTER}?token={token}"
    print(f"The course is at {url}\nCtrl-C stops it.", flush=True)
    LabApp.launch_instance(_jupyter_arguments(port, token, options.browser))
    return 0


def test(options: argparse.Namespace) -> int:
    """Check style, units, properties, doctests, layers, labs, every notebook and the browser."""
    notebooks = sorted(str(path) for path in Path(CLONE, "notebooks").glob("*.ipynb"))
    where = ("interconnect_lab", "tests", *notebooks)
    return _run(*STYLE, ("pytest", *NBVAL, *(NO_BROWSER if options.fast else ()), *where))


def check(_options: argparse.Namespace) -> int:
    """Check style and what tests need no other process: the quick loop."""
    return _run(*STYLE, ("pytest", "-q", "-m", "not slow", *NO_BROWSER))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m interconnect_lab", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    for run in (lab, test, check):
        about = run.__doc__.splitlines()[0]
        command = commands.add_parser(run.__name__, help=about, description=about)
        command.set_defaults(run=run)
        if run is lab:
            command.add_argument("--port", type=int, help=f"default: first free from {FIRST_PORT}")
            command.add_argument("--no-browser", dest="browser", action="store_false")
        if run is test:
            command.add_argument("--fast", action="store_true", help="leave out the browser")
    return parser


def _jupyter_arguments(port: int, token: str, browser: bool) -> list[str]:
    arguments = [
        str(CLONE / FIRST_CHAPTER),
        f"--ServerApp.root_dir={CLONE}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.open_browser={browser}",
        "--log-level=WARN",  # the printed URL stays in sight
    ]
    if getattr(os, "geteuid", lambda: None)() == 0:  # containers; the server still asks its token
        arguments.append("--allow-root")
    return arguments


def _free_port(wanted: int | None) -> int:
    """Return the port asked for, or the first free one; CommandError where it is taken."""
    for port in [wanted] if wanted else range(FIRST_PORT, FIRST_PORT + PORTS):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        return port
    raise CommandError(f"Port {wanted or FIRST_PORT} is taken: choose another one.")


def _need(module: str, name: str) -> None:
    if find_spec(module) is None:
        remedy = "python -m pip install -r requirements.txt"
        raise CommandError(f"{name} is not installed for {sys.executable}: {remedy}")


def _run(*commands: tuple[str, ...]) -> int:
    """Run each command in the clone, with this Python; return the first status that is not 0."""
    for module, *arguments in commands:
        _need(module, module)
        print("$", module, *arguments, flush=True)
        done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=CLONE, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
