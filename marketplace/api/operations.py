"""All operations of the protocol in one dict."""

from marketplace.api import assignments, hits, qualifications, workers
from marketplace.api.call import Operation

OPERATIONS: dict[str, Operation] = {
    **hits.OPERATIONS,
    **assignments.OPERATIONS,
    **qualifications.OPERATIONS,
    **workers.OPERATIONS,
}
