"""``python -m evaluation``: score predictions, without Django, a server or a database.

``manage.py evaluate`` is the same beside the other commands, and starts a second later.
"""

import sys

from evaluation.command import main

sys.exit(main())
