"""Programs of others that read a release, as processes of their own."""

import os
import subprocess
import sys

# Arrow's threads can abort a process, or hold it up, while its interpreter ends (apache/arrow issues 34314 and 50482):
# what was read and printed by then is what counts here.
END = "\nimport os, sys\nsys.stdout.flush()\nos._exit(0)\n"


def read_by(script, *arguments, cwd, env=None):
    """Run a script to its last line; return what it printed."""
    ran = subprocess.run(
        [sys.executable, "-c", script + END, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        env=env or dict(os.environ),
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
