"""What a request must be beyond what OpenAPI can say.

Schemathesis loads this file (SCHEMATHESIS_HOOKS). Only what is to be accepted is touched.
"""

import hashlib
import os
import re

import schemathesis

# Of a job that was created in the year 2286, as the gateway writes it: the list begins with the newest.
CURSOR = "OTk5OTk5OTk5OTk5OS4x"
DATES = ("dateFrom", "dateTo")
# The last row that can be asked for, and the usual number of rows.
LAST_ROW = 2**53 - 1
USUAL_LIMIT = 50
LONGEST_KEY = 255


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None:
        return
    if "Webhook-Url" in case.headers and not is_about(case, "Webhook-Url"):
        case.headers["Webhook-Url"] = at_allowed_host(case.headers["Webhook-Url"])
    if case.meta.generation.mode.is_negative:
        return
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = own_key(case)
    if "cursor" in case.query:
        choose_cursor(case)
    if "threadId" in case.path_parameters:
        case.path_parameters["threadId"] = os.environ["QUILLGATE_THREAD"]
    if "page" in case.query or "offset" in case.query:
        stay_in_list(case.query)
    for name in DATES:
        if case.query.get(name, "").startswith("0000"):
            # The simulated platform does not know that year, which was a leap year too.
            case.query[name] = "0004" + case.query[name][4:]
    if "/views/daily" in case.path:
        stay_in_archive(case)
    elif all(name in case.query for name in DATES):
        put_in_order(case.query)


def choose_cursor(case):
    """A cursor is one that its list gave. Those of the platform's lists hold for one range and one filter."""
    if case.path.endswith("/jobs"):
        case.query["cursor"] = CURSOR
    else:
        del case.query["cursor"]


def stay_in_archive(case):
    """Days begin in 1970, a range has ten years at most, and `path` and `prefix` exclude each other."""
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


def stay_in_list(query):
    """`page` stands in the place of `offset`, and both name a row that can be asked for."""
    limit = int(query.get("limit", USUAL_LIMIT))
    if "page" in query and "offset" in query:
        del query["page"]
    if "page" in query:
        query["page"] = min(int(query["page"]), (LAST_ROW - limit) // limit)
    if "offset" in query:
        query["offset"] = min(int(query["offset"]), LAST_ROW - limit)


def is_about(case, name):
    """Whether this very parameter is to be refused."""
    data = case.meta.phase.data
    wrong = [getattr(data, "parameter", None), *(it.parameter for it in getattr(data, "mutations", []))]
    return case.meta.generation.mode.is_negative and name in wrong


def at_allowed_host(url):
    """The operator of this gateway allows one host, so that nothing is sent to anybody else's.

    In some cases schemathesis knows no good value for a pattern that letters and digits alone do not
    fit, and sends what is no address at all.
    """
    address = re.fullmatch("[^:]+://[^/?]+(.*)", url)
    return "https://hooks.example" + (address[1] if address else "")


def own_key(case):
    """A key belongs to one request: another under the same one is refused with 422.

    The key stays what it is but for some characters after its first.
    """
    key = case.headers["Idempotency-Key"]
    request = (key, case.method, case.formatted_path, case.body, case.headers.get("Webhook-Url"))
    digest = hashlib.sha256(repr(request).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    if len(key) + len(digest) <= LONGEST_KEY:
        return key[:1] + digest + key[1:]
    return f'"{digest}"' if key.startswith('"') else key[:1] + digest + key[1 + len(digest) :]


def put_in_order(query):
    """`dateFrom` has to be before `dateTo`: by years, since offsets from UTC move days."""
    first, last = (int(query[name][:4]) for name in DATES)
    if first > last + 1:
        query["dateFrom"], query["dateTo"] = query["dateTo"], query["dateFrom"]
    elif first + 1 >= last and "format" in query:
        # An export has both ends, and every row between them. The first may be of a leap year.
        last = "2025" + query["dateTo"][4:].replace("-02-29", "-03-01")
        query.update(dateFrom="2024" + query["dateFrom"][4:], dateTo=last)
    elif first + 1 >= last:
        del query["dateTo"]
