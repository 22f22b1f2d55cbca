//! Operation Objects of the declared operations.

use quillgate::Operation;
use quillgate::declaration::{Method, Pagination, Parameter, ParameterKind, Place};
use quillgate_worker::http::content::MAX_BODY;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::jobs::records::MAX_TEXT_LENGTH;
use serde_json::{Map, Value, json};

use super::fields::{self, Fields};
use super::problems::{
    self, ADMISSION, ARCHIVE, BODY, BUDGET, PROJECT, RECORD, STREAM, UPSTREAM, WRITING,
};
use super::{CSV, JSON, NDJSON, links, patterns, schemas, security, streams, webhooks};
use quillgate::documentation::join_lines;

/// The parts of an operation's description that its declaration does not contain.
#[derive(Clone, Copy)]
struct More {
    /// The operation's `description`. Omitted from the document if empty.
    doc: &'static str,
    /// The 2xx responses.
    success: Success,
    /// The header fields that its requests may have, in addition to [`fields::ANY_REQUEST`].
    takes: &'static [&'static str],
    /// The header fields that its responses may have after the gateway has checked the budget or
    /// called the upstream.
    gives: &'static [&'static str],
    /// The problems that it can cause, in addition to those of every operation.
    problems: &'static [&'static [ProblemKind]],
}

/// The source of a 2xx response, with its description.
#[derive(Clone, Copy)]
enum Success {
    /// From the upstream: the usual status, the description, and the header fields that the
    /// response may have.
    Passed(&'static str, &'static str, &'static [&'static str]),
    /// From the gateway itself, with status 200.
    Made(&'static str),
    /// From the gateway's cache, with status 200 or 304.
    Cached(&'static str),
    /// From the archive, with status 200 or 304.
    Archived(&'static str),
    /// From the gateway, which continues the work after the response, with status 202.
    Accepted(&'static str),
    /// An event stream of one job. Status 204 if no event can follow.
    Streamed,
    /// An event stream of the job list, which has no end.
    ListStreamed,
    /// A stream of exported rows.
    Exported,
    /// A response without a body, with status 204.
    Empty(&'static str),
}

/// The defaults of operations that read from the upstream.
const READS: More = More {
    doc: "",
    success: Success::Passed("200", "The upstream's answer.", &[]),
    takes: &[],
    gives: &["RateLimit-Policy", "RateLimit", "Server-Timing"],
    problems: &[UPSTREAM, BUDGET],
};

/// The defaults of operations that write to the upstream.
const WRITES: More = More {
    doc: "",
    success: Success::Passed("201", "The upstream's answer.", &[]),
    takes: &[
        "Idempotency-Key",
        "Idempotency-Retry",
        "Cf-Turnstile-Response",
    ],
    gives: &[
        "RateLimit-Policy",
        "RateLimit",
        "Server-Timing",
        "Idempotent-Replayed",
    ],
    problems: &[UPSTREAM, BUDGET, WRITING],
};

const CREATE: More = More {
    doc: "The budget is 100 jobs in any hour per project, unless the operator sets another.",
    success: Success::Passed("201", "The job, which has begun.", &[]),
    takes: &[
        "Idempotency-Key",
        "Idempotency-Retry",
        "Cf-Turnstile-Response",
        "Webhook-Url",
    ],
    ..WRITES
};

const SEND: More = More {
    doc: "The budget is 100 follow-ups in any hour per project, unless the operator sets another. \
        `Webhook-Url` belongs to the creation of a job, and is refused here.",
    success: Success::Passed("200", "The job, which is at work again.", &[]),
    ..WRITES
};

const GET: More = More {
    doc: "With `Prefer: wait` the answer waits for a change, at most until the access token expires; it \
        then carries the state's `ETag`, and `Preference-Applied`. It counts as a stream meanwhile. If \
        the upstream fails temporarily, the response contains the latest state that the gateway has \
        stored, and `Cache-Status` with `detail=stale`.",
    success: Success::Passed(
        "200",
        "The job.",
        &[
            "ETag",
            "Preference-Applied",
            "Content-Language",
            "Cache-Status",
        ],
    ),
    takes: &["Prefer", "If-None-Match"],
    problems: &[UPSTREAM, STREAM],
    ..READS
};

const LIST: More = More {
    doc: "The gateway keeps this list itself, for 90 days unless the operator sets another time. Jobs \
        that have not ended are as the upstream last reported them: a list asks it for at most 8 of \
        them, those that were not asked for the longest. The pages of a list have the same `state`, \
        `author` and `text`.",
    success: Success::Made("The jobs, newest first."),
    gives: &["RateLimit-Policy", "RateLimit"],
    problems: &[BUDGET],
    ..READS
};

const REPORT: More = More {
    doc: "Answered from the cache where that has the rows: for a day when `dateTo` is before yesterday \
        (UTC), for five minutes when it is later or left out, unless the operator sets another time. When \
        the upstream fails or the budget of 100 requests in any hour is spent, what is kept is served for \
        another day rather than an error, and `Cache-Status` says so. `dateFrom` has to be before \
        `dateTo`, and `offset` and `limit` add up to at most 9007199254740991.",
    success: Success::Cached("The rows, cut from what is kept or was just fetched."),
    takes: &["If-None-Match", "Cache-Control"],
    gives: &["RateLimit-Policy", "RateLimit", "Server-Timing"],
    problems: &[UPSTREAM, BUDGET],
};

const WHOLE_REPORT: &str = "Answered from the cache where that has this very answer: for a day when \
    `dateTo` is before yesterday (UTC), else for five minutes, unless the operator sets another time. When \
    the upstream fails or the budget of 100 requests in any hour is spent, what is kept is served for \
    another day rather than an error, and `Cache-Status` says so. `dateFrom` has to be before `dateTo`.";

const EVENTS: More = More {
    doc: "One event `job` for each change, numbered from 1, of which the last 100 are kept; a comment \
        every 15 seconds. The stream ends after the job has, when the access token expires, and after \
        an hour, in a session after five minutes; then connect again. A job that has not ended a day after it was set to work is no longer \
        polled, unless the operator sets another time: an event `end` says so. A caller may have 100 \
        streams of a project open and a job 1000, unless the operator sets other numbers.",
    success: Success::Streamed,
    takes: &["Last-Event-ID"],
    problems: &[UPSTREAM, STREAM],
    ..READS
};

const LIST_EVENTS: More = More {
    doc: "One event `job` for each job that is new, was sent a follow-up or is not as it was, which carries \
        the job as it is listed; one event `deleted` for each record that was deleted. They are numbered in \
        the project. A stream without `Last-Event-ID` begins with the 25 jobs that changed last; another with \
        what has changed since, each job once as it now is: at most 250 jobs and as many deletions, which \
        are known for a day. When changes after `Last-Event-ID` are missing, it begins like a new \
        stream, and the event `reset` follows: load the list again. While somebody listens, the latest 50 jobs that have not ended are polled. A \
        comment comes every 15 seconds. The stream ends when the access token expires, and after an hour, in \
        a session after five minutes; then connect again. A caller may have 100 streams of a project open and the list 1000, unless the \
        operator sets other numbers.",
    success: Success::ListStreamed,
    problems: &[BUDGET, STREAM],
    ..EVENTS
};

const READ_RECORD: More = More {
    doc: "Of a job that was created through the gateway. Prompts are whole, unless the operator \
        stores only their first line (`KEEP_PROMPTS=first-line`). A job that has not \
        ended is asked for upstream, as with a list.",
    success: Success::Made("What is recorded."),
    gives: &["RateLimit-Policy", "RateLimit"],
    problems: &[BUDGET, RECORD],
    ..READS
};

const EXPORT: More = More {
    doc: "Every row of the range, streamed page by page through the same cache and budget as the report. Rows \
        keep the fields that the gateway does not know. An export that cannot continue ends with a last \
        record with the reason and the cursor to resume from: `{\"incomplete\": {\"cursor\", \"problem\", \
        \"retryAfter\"}}` in NDJSON, a record with `#incomplete` in the first cell in CSV. With a cursor, CSV \
        has no byte order mark and no header, so that the joined parts equal the whole. With `Prefer: wait`, the \
        export waits for the budget: at most that many seconds in total, and at most a day. By default, 10 \
        exports of a caller and 100 of the organization may wait at the same time. It ends when the access \
        token expires. If the connection closes before the last chunk, the export is incomplete.",
    success: Success::Exported,
    takes: &["Prefer", "Cache-Control"],
    problems: &[UPSTREAM, BUDGET, STREAM],
    ..READS
};

const DELETE_RECORD: More = More {
    doc: "For operators. Deletes the job's entry in the list, its prompt and messages, its changes, and \
        webhooks that wait to be sent; its streams end, and those of the list say so. Answers that are kept under an idempotency key are deleted, and their \
        keys stay in use: a repeated request gets 409 `record-deleted`. The upstream is not asked.",
    success: Success::Empty("The record is deleted."),
    gives: &[],
    problems: &[RECORD],
    ..READS
};

const SERIES: More = More {
    doc: "Answered from the gateway's own archive, which keeps each finished day (UTC) of the projects \
        that the operator names; the upstream is never asked. A day that is not held is named in \
        `missing` and counts nowhere. `path` and `prefix` exclude each other, `dateFrom` has to be \
        before `dateTo`, and the range has at most 3660 days. It may be kept for a day when none of \
        its days can change any more, else for five minutes.",
    success: Success::Archived("The groups of which a day is held, in order."),
    takes: &["If-None-Match"],
    gives: &[],
    problems: &[ARCHIVE],
};

const ARCHIVE_STATUS: More = More {
    doc: "",
    success: Success::Made("What is held and what is missing."),
    takes: &[],
    ..SERIES
};

const BACKFILL_ESTIMATE: More = More {
    doc: "For operators. Days that the archive does not retain are left out.",
    success: Success::Made("What it takes."),
    ..ARCHIVE_STATUS
};

const BACKFILL: More = More {
    doc: "For operators. The days are fetched by the cron trigger, the oldest first, within the archive's \
        share of the budget. Asked for again it changes nothing, and a later day takes none back.",
    success: Success::Accepted("It is begun, and takes this."),
    problems: &[ARCHIVE, BODY],
    ..ARCHIVE_STATUS
};

fn more(operation: Operation) -> More {
    match operation {
        Operation::CreateAgentJob => CREATE,
        Operation::SendMessage => SEND,
        Operation::GetAgentJob => GET,
        Operation::ListAgentJobs => LIST,
        Operation::StreamAgentJobEvents => EVENTS,
        Operation::StreamProjectJobEvents => LIST_EVENTS,
        Operation::GetAgentJobRecord => READ_RECORD,
        Operation::DeleteAgentJobRecord => DELETE_RECORD,
        export if export.exported().is_some() => EXPORT,
        Operation::ListDailyViews => SERIES,
        Operation::GetArchiveStatus => ARCHIVE_STATUS,
        Operation::EstimateBackfill => BACKFILL_ESTIMATE,
        Operation::BeginBackfill => BACKFILL,
        report => describe_report(report.declaration().pagination),
    }
}

/// Returns the parts that all analytics reports with this pagination share.
const fn describe_report(pagination: Pagination) -> More {
    match pagination {
        Pagination::Offset { .. } => REPORT,
        Pagination::Cursor { .. } | Pagination::Whole => More {
            doc: WHOLE_REPORT,
            success: Success::Cached("The report, as it is kept or was just fetched."),
            ..REPORT
        },
    }
}

/// Returns the Operation Object of an operation.
pub fn describe(operation: Operation) -> Value {
    let more = more(operation);
    let (declared, documented) = (operation.declaration(), operation.documentation());
    let group = declared.name.split('.').next();
    let kinds = [&[ADMISSION, PROJECT], more.problems].concat().concat();
    let mut responses = problems::responses(&kinds, more.gives);
    responses.extend(successes(operation, &more));
    let mut described = json!({
        "operationId": declared.name,
        "tags": [group],
        "summary": join_lines(documented.summary),
        "security": security(declared.scope.as_str()),
        "parameters": parameters(operation, &more),
        "responses": responses,
    });
    if !more.doc.is_empty() {
        described["description"] = more.doc.into();
    }
    if let Some(link) = documented.link {
        described["externalDocs"] = json!({ "url": link });
    }
    if declared.method == Method::Post {
        described["requestBody"] = body(operation);
    }
    if operation == Operation::CreateAgentJob {
        let target = json!({ "{$request.header.Webhook-Url}": webhooks::reference() });
        described["callbacks"] = json!({ webhooks::NAME: target });
    }
    described
}

fn parameters(operation: Operation, more: &More) -> Vec<Value> {
    let project = json!({
        "name": "projectId",
        "in": "path",
        "required": true,
        "description": "The project's identifier.",
        "schema": schemas::path_segment(),
        "example": "demo-docs",
    });
    let named = list_parameters(operation)
        .filter(|(own, _)| own.place != Place::Body)
        .map(|(own, doc)| {
            json!({
                "name": own.name,
                "in": if own.place == Place::Path { "path" } else { "query" },
                "required": own.is_required,
                "description": doc,
                "schema": schema_of(operation, own),
            })
        });
    let fields = [more.takes, &fields::ANY_REQUEST].concat();
    std::iter::once(project)
        .chain(named)
        .chain(fields::taken(&fields))
        .collect()
}

/// Returns the schema of an operation's parameter.
fn schema_of(operation: Operation, parameter: &Parameter) -> Value {
    let pattern = match parameter.name {
        _ if is_day(operation, parameter) => Some(patterns::DAY),
        "cursor" => own_cursor(operation),
        "prefix" => Some(patterns::PATH_PREFIX),
        _ => None,
    };
    if operation == Operation::ListAgentJobs && parameter.name == "text" {
        return json!({ "type": "string", "minLength": 1, "maxLength": MAX_TEXT_LENGTH });
    }
    match pattern {
        Some(pattern) => json!({ "type": "string", "pattern": pattern }),
        None => schemas::of_parameter(parameter),
    }
}

/// Returns the pattern of the operation's cursor, or `None` if the gateway does not define its
/// format.
fn own_cursor(operation: Operation) -> Option<&'static str> {
    if operation == Operation::ListAgentJobs {
        return Some(patterns::CURSOR);
    }
    let list = operation.exported()?.declaration();
    let cursor = list.parameter("cursor");
    Some(match cursor.map(|cursor| cursor.kind) {
        None => patterns::ROWS_HAD,
        Some(ParameterKind::Ulid) => patterns::PLACE_IN_PAGE_OF_ULID,
        Some(_) => patterns::PLACE_IN_PAGE,
    })
}

/// Whether a parameter is a day of the archive, without a time.
fn is_day(operation: Operation, parameter: &Parameter) -> bool {
    let name = parameter.name;
    match operation {
        Operation::ListDailyViews => matches!(name, "dateFrom" | "dateTo" | "cursor"),
        Operation::EstimateBackfill | Operation::BeginBackfill => name == "dateFrom",
        _ => false,
    }
}

/// Returns an operation's parameters with their documentation.
fn list_parameters(
    operation: Operation,
) -> impl Iterator<Item = (&'static Parameter, &'static str)> {
    let docs = operation.documentation().parameters.iter().copied();
    operation.declaration().parameters.iter().zip(docs)
}

/// Returns the Request Body Object. The schema allows no additional properties.
fn body(operation: Operation) -> Value {
    let members = list_parameters(operation).filter(|(own, _)| own.place == Place::Body);
    let members: Vec<_> = members.collect();
    let property = |(own, doc): &(&Parameter, &str)| {
        let mut schema = schema_of(operation, own);
        schema["description"] = (*doc).into();
        (own.name.to_owned(), schema)
    };
    let properties: Map<_, _> = members.iter().map(property).collect();
    let required = members.iter().map(|(own, _)| own.name);
    let example = if operation == Operation::BeginBackfill {
        json!({ "dateFrom": "2026-01-01" })
    } else {
        json!({ "prompt": "Fix the typing errors on the start page." })
    };
    json!({
        "required": true,
        "description": format!("JSON in UTF-8, at most {MAX_BODY} bytes, each member once."),
        "content": { JSON: {
            "schema": {
                "type": "object",
                "properties": properties,
                "required": required.collect::<Vec<_>>(),
                "additionalProperties": false,
            },
            "example": example,
        } },
    })
}

fn successes(operation: Operation, more: &More) -> Map<String, Value> {
    let fields = Fields::common();
    let answer = |fields: Fields, doc: &str| {
        json!({
            "description": doc,
            "headers": fields.perhaps(more.gives).described(),
            "content": { JSON: { "schema": schemas::of(operation.result()) } },
        })
    };
    let successes = match more.success {
        Success::Passed(status, doc, may_have) => {
            let fields = fields.perhaps(may_have);
            let mut usual = answer(fields.clone(), doc);
            if operation == Operation::CreateAgentJob {
                usual["links"] = links::from_created_job();
            }
            vec![(status, usual), ("2XX", answer(fields, AS_UPSTREAM))]
        }
        Success::Made(doc) => vec![("200", answer(fields, doc))],
        Success::Cached(doc) => {
            let fresh = answer(fields.with(&["ETag", "Age", "Cache-Status"]), doc);
            let known = json!({ "description": UNCHANGED, "headers": fresh["headers"] });
            vec![("200", fresh), ("304", known)]
        }
        Success::Archived(doc) => {
            let fresh = answer(fields.with(&["ETag"]), doc);
            let known = json!({ "description": UNCHANGED, "headers": fresh["headers"] });
            vec![("200", fresh), ("304", known)]
        }
        Success::Accepted(doc) => vec![("202", answer(fields, doc))],
        Success::Streamed => {
            let fields = fields.perhaps(&["RateLimit-Policy", "RateLimit"]);
            vec![
                ("200", streams::events(&fields)),
                ("204", empty(FINISHED, &fields)),
            ]
        }
        Success::ListStreamed => {
            let fields = fields.perhaps(&["RateLimit-Policy", "RateLimit"]);
            vec![("200", streams::list_events(&fields))]
        }
        Success::Exported => {
            let fields = fields.with(&["Content-Disposition"]);
            let fields = fields.perhaps(&["Preference-Applied"]).perhaps(more.gives);
            vec![("200", rows(operation, &fields))]
        }
        Success::Empty(doc) => vec![("204", empty(doc, &Fields::common()))],
    };
    successes
        .into_iter()
        .map(|(status, response)| (status.to_owned(), response))
        .collect()
}

const AS_UPSTREAM: &str = "Any other success of the upstream, with its own status.";
const FINISHED: &str = "The job has ended or is no longer polled, and the caller has its last event: \
    there is nothing more to ask for.";
const UNCHANGED: &str = "The caller has these rows already (`If-None-Match`).";

fn rows(operation: Operation, fields: &Fields) -> Value {
    let row = operation.result().name();
    let text =
        |description: String| json!({ "schema": { "type": "string", "description": description } });
    json!({
        "description": "The rows. If the export is incomplete, the last record has the cursor to resume from.",
        "headers": fields.described(),
        "content": {
            CSV: text(format!(
                "RFC 4180 in UTF-8 with a byte order mark: a column for each member of `{row}`, lists and \
                 records that differ as JSON in one cell, `null` as an empty cell. Text that a spreadsheet \
                 would run as a formula begins with an apostrophe."
            )),
            NDJSON: text(format!("A `{row}` each line.")),
        },
    })
}

fn empty(doc: &str, fields: &Fields) -> Value {
    json!({
        "description": doc,
        "headers": fields.described(),
    })
}
