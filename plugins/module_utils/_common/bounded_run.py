# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that print what others say, who may say it without end."""
from __future__ import annotations

import contextlib
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

# A thousand answers about BMCs have a hundredth of it.
_OUTPUT_BYTES = 4 * 1024 ** 2


def run(command: list[str], timeout: float, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a program as ``subprocess.run`` does, and end it when it prints more than any answer has.

    :param command: program and arguments
    :param timeout: seconds
    :param options: as of ``subprocess.run``: ``input``, pipes for both outputs, ``check=False``
    :raises OSError: when it prints more, or cannot be run
    :raises subprocess.TimeoutExpired: when it does not end in time
    """
    given = options.pop("input")
    # The exit code is the caller's to look at.
    del options["check"]
    late = threading.Event()
    process: Any
    with subprocess.Popen(command, stdin=subprocess.PIPE, **options) as process, ThreadPoolExecutor(3) as pool:

        def end() -> None:
            late.set()
            process.kill()

        def read(stream: IO[bytes]) -> bytes:
            content = stream.read(_OUTPUT_BYTES + 1)
            if len(content) > _OUTPUT_BYTES:
                process.kill()
            return content

        def write(stream: IO[bytes]) -> None:
            # One that does not read to the end says why.
            with contextlib.suppress(BrokenPipeError), stream:
                stream.write(given)

        timer = threading.Timer(timeout, end)
        timer.start()
        try:
            pool.submit(write, process.stdin)
            output, errors = (part.result() for part in [pool.submit(read, stream) for stream in (
                process.stdout, process.stderr)])
            code = process.wait()
        finally:
            timer.cancel()
    if late.is_set():
        raise subprocess.TimeoutExpired(command[:1], timeout)
    if max(len(output), len(errors)) > _OUTPUT_BYTES:
        raise OSError(f"it prints more than {_OUTPUT_BYTES // 1024 ** 2} MiB")
    return subprocess.CompletedProcess(command, code, output, errors)
