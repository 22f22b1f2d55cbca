"""Rules for valid requests that OpenAPI cannot express.

Schemathesis loads this file through SCHEMATHESIS_HOOKS. Requests that the gateway must reject stay
unchanged, except for their webhook URL.
"""

import hashlib
import os
import re

import schemathesis

# A cursor in the gateway's format, after a job of the year 2286: the list starts with the newest job.
CURSOR = "OTk5OTk5OTk5OTk5OS4x"
DATES = ("dateFrom", "dateTo")
MAX_ROW = 2**53 - 1
DEFAULT_LIMIT = 50
MAX_KEY_LENGTH = 255
MAX_ID_BYTES = 256


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None:
        return
    if "Webhook-Url" in case.headers and not must_reject(case, "Webhook-Url"):
        case.headers["Webhook-Url"] = use_allowed_host(case.headers["Webhook-Url"])
    if case.meta.generation.mode.is_negative:
        return
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = make_unique_key(case)
    if "cursor" in case.query:
        choose_cursor(case)
    if "id" in case.path_parameters:
        case.path_parameters["id"] = limit_bytes(case.path_parameters["id"])
    if "threadId" in case.path_parameters:
        case.path_parameters["threadId"] = os.environ["QUILLGATE_THREAD"]
    if "page" in case.query or "offset" in case.query:
        limit_rows(case.query)
    for name in DATES:
        if case.query.get(name, "").startswith("0000"):
            # The simulator has no year 0. The year 4 is a leap year too.
            case.query[name] = "0004" + case.query[name][4:]
    if "/views/daily" in case.path or "/views/archived" in case.path:
        limit_archive_range(case)
    elif all(name in case.query for name in DATES):
        order_dates(case.query)


def choose_cursor(case):
    """Cursors come from their list. Cursors of reports are valid for one range and one filter only."""
    if case.path.endswith("/jobs"):
        case.query["cursor"] = CURSOR
    else:
        del case.query["cursor"]


def limit_bytes(identifier):
    """The gateway limits the bytes of an id, and `maxLength` its characters."""
    return str(identifier).encode()[:MAX_ID_BYTES].decode(errors="ignore")


def limit_archive_range(case):
    """Days start in 1970, a range spans at most ten years, and `path` and `prefix` are exclusive."""
    body = case.body if isinstance(case.body, dict) else {}
    for values in (case.query, body):
        for name in DATES:
            if name in values and values[name] < "1970":
                values[name] = "2024" + values[name][4:]
    if all(name in case.query for name in DATES):
        first, last = sorted(case.query[name] for name in DATES)
        if first == last or int(last[:4]) - int(first[:4]) > 9:
            last = f"{int(first[:4]) + 1:04}-01-02"
        case.query.update(zip(DATES, (first, last)))
    if "path" in case.query:
        case.query.pop("prefix", None)


def limit_rows(query):
    """`page` is an alternative to `offset`, and neither may lead beyond the last row."""
    limit = int(query.get("limit", DEFAULT_LIMIT))
    if "page" in query and "offset" in query:
        del query["page"]
    if "page" in query:
        query["page"] = min(int(query["page"]), (MAX_ROW - limit) // limit)
    if "offset" in query:
        query["offset"] = min(int(query["offset"]), MAX_ROW - limit)


def must_reject(case, name):
    """Whether the gateway must reject the request because of this parameter."""
    data = case.meta.phase.data
    mutated = [mutation.parameter for mutation in getattr(data, "mutations", [])]
    invalid = [getattr(data, "parameter", None), *mutated]
    return case.meta.generation.mode.is_negative and name in invalid


def use_allowed_host(url):
    """Replaces the host by the only one that this gateway allows, so that no other host is called.

    For some patterns schemathesis finds no valid value and sends a string that is not a URL.
    """
    parts = re.fullmatch("[^:]+://[^/?]+(.*)", url)
    return "https://hooks.example" + (parts[1] if parts else "")


def make_unique_key(case):
    """Inserts a digest of the request: reusing a key for another request returns 422.

    The other characters of the key stay.
    """
    key = case.headers["Idempotency-Key"]
    request = (key, case.method, case.formatted_path, case.body, case.headers.get("Webhook-Url"))
    digest = hashlib.sha256(repr(request).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    if len(key) + len(digest) <= MAX_KEY_LENGTH:
        return key[:1] + digest + key[1:]
    return f'"{digest}"' if key.startswith('"') else key[:1] + digest + key[1 + len(digest) :]


def order_dates(query):
    """`dateFrom` must precede `dateTo`. The years must differ because UTC offsets shift days."""
    first, last = (int(query[name][:4]) for name in DATES)
    if first > last + 1:
        query["dateFrom"], query["dateTo"] = query["dateTo"], query["dateFrom"]
    elif first + 1 >= last and "format" in query:
        # An export needs both dates and reads every row between them. Only 2024 is a leap year.
        last = "2025" + query["dateTo"][4:].replace("-02-29", "-03-01")
        query.update(dateFrom="2024" + query["dateFrom"][4:], dateTo=last)
    elif first + 1 >= last:
        del query["dateTo"]
