//! Operation Objects of the declared operations.

use quillgate::Operation;
use quillgate::declaration::{Method, Pagination, Parameter, ParameterIn, ParameterKind};
use quillgate_worker::http::content::MAX_BODY;
use quillgate_worker::http::problem_kind::ProblemKind;
use quillgate_worker::jobs::records::MAX_TEXT_LENGTH;
use serde_json::{Map, Value, json};

use super::fields::{self, Fields};
use super::problems::{
    self, ADMISSION, ARCHIVE, BODY, BUDGET, PROJECT, RECORD, STREAM, UPSTREAM, WRITING,
};
use super::{JSON, exports, links, patterns, schemas, security, streams, webhooks};
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
    success: Success::Passed("200", "The response of Mintlify.", &[]),
    takes: &[],
    gives: &["RateLimit-Policy", "RateLimit", "Server-Timing"],
    problems: &[UPSTREAM, BUDGET],
};

/// The defaults of operations that write to the upstream.
const WRITES: More = More {
    doc: "",
    success: Success::Passed("201", "The response of Mintlify.", &[]),
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
    doc: "The default budget is 100 jobs per project in any 60 minutes.",
    success: Success::Passed("201", "The started job.", &[]),
    takes: &[
        "Idempotency-Key",
        "Idempotency-Retry",
        "Cf-Turnstile-Response",
        "Webhook-Url",
    ],
    ..WRITES
};

const SEND: More = More {
    doc: "The default budget is 100 follow-ups per project in any 60 minutes. `Webhook-Url` is \
        rejected, because it belongs to the creation of a job.",
    success: Success::Passed("200", "The job, active again.", &[]),
    ..WRITES
};

const GET: More = More {
    doc: "With `Prefer: wait`, the response waits for a change, at most until the access token \
        expires. It then has the state's `ETag` and `Preference-Applied`. While it waits, it \
        counts as a stream. If Mintlify fails temporarily, the response has the latest stored \
        state, and `Cache-Status` has `detail=stale`.",
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
    doc: "The gateway stores this list, by default for 90 days. Jobs that have not ended have \
        the state that Mintlify last reported. Each request polls at most 8 of them, those that \
        were polled the longest ago. All pages of a list must have the same `state`, `author` \
        and `text`.",
    success: Success::Made("The jobs, newest first."),
    gives: &["RateLimit-Policy", "RateLimit"],
    problems: &[BUDGET],
    ..READS
};

const REPORT: More = More {
    doc: "Cached for a day if `dateTo` is before yesterday (UTC), and by default for five \
        minutes otherwise. If Mintlify fails or the budget of 100 requests in any 60 minutes is \
        used up, cached rows are served for another day, and `Cache-Status` shows it. `dateFrom` \
        must be before `dateTo`. `offset` plus `limit` must be at most 9007199254740991.",
    success: Success::Cached("The rows."),
    takes: &["If-None-Match", "Cache-Control"],
    gives: &["RateLimit-Policy", "RateLimit", "Server-Timing"],
    problems: &[UPSTREAM, BUDGET],
};

const WHOLE_REPORT: &str = "Cached for a day if `dateTo` is before yesterday (UTC), and by \
    default for five minutes otherwise. If Mintlify fails or the budget of 100 requests in any \
    60 minutes is used up, the cached report is served for another day, and `Cache-Status` shows \
    it. `dateFrom` must be before `dateTo`.";

const EVENTS: More = More {
    doc: "Sends an event `job` for each change, numbered from 1. The last 100 are stored. A \
        comment follows every 15 seconds. The stream ends after the job has ended, when the \
        access token expires, and after an hour (five minutes in a session). Then connect again. \
        By default, polling stops after one day, and an event `end` announces it. By default, a \
        caller can have 100 open streams per project, and a job 1,000.",
    success: Success::Streamed,
    takes: &["Last-Event-ID"],
    problems: &[UPSTREAM, STREAM],
    ..READS
};

const LIST_EVENTS: More = More {
    doc: "Sends an event `job` with the listed job for each job that is new, changed or received \
        a follow-up, and an event `deleted` for each deleted record. Events are numbered per \
        project. Without `Last-Event-ID`, the stream starts with the 25 jobs that changed last. \
        With it, the stream starts with the changes since then: at most 250 jobs, each once in \
        its current state, and 250 deletions of the last day. If some of these changes are no \
        longer stored, the stream starts like a new one, followed by an event `reset`: load the \
        list again. While a stream is open, the gateway polls the latest 50 jobs that have not \
        ended. A comment follows every 15 seconds. The stream ends when the access token \
        expires, and after an hour (five minutes in a session). Then connect again. By default, \
        a caller can have 100 open streams per project, and the list 1,000.",
    success: Success::ListStreamed,
    problems: &[BUDGET, STREAM],
    ..EVENTS
};

const READ_RECORD: More = More {
    doc: "For jobs that were created through the gateway. Prompts are complete, unless the \
        operator stores only their first line (`KEEP_PROMPTS=first-line`). The gateway polls a \
        job that has not ended, as for a list.",
    success: Success::Made("The record."),
    gives: &["RateLimit-Policy", "RateLimit"],
    problems: &[BUDGET, RECORD],
    ..READS
};

const EXPORT: More = More {
    doc: "Streams every row of the range page by page, with the cache and budget of the report. \
        Rows also have properties that the gateway does not know. An export that cannot continue \
        ends with a last record with the reason and the cursor to resume from: `{\"incomplete\": \
        {\"cursor\", \"problem\", \"retryAfter\"}}` in NDJSON, a record with `#incomplete` in \
        the first cell in CSV. With a cursor, CSV has no byte order mark and no header, so that \
        the joined parts equal the whole. With `Prefer: wait`, the export waits for the budget: \
        at most that many seconds in total, and at most a day. By default, 10 exports of a \
        caller and 100 of the organization can wait at the same time. The export ends when the \
        access token expires. If the connection closes before the last chunk, the export is \
        incomplete.",
    success: Success::Exported,
    takes: &["Prefer", "Cache-Control"],
    problems: &[UPSTREAM, BUDGET, STREAM],
    ..READS
};

const DELETE_RECORD: More = More {
    doc: "For operators. Deletes the job's entry in the list, its prompt, messages and changes, \
        and pending webhooks. Streams of the job end, and streams of the list send an event. \
        Stored responses of idempotency keys are deleted, but the keys remain in use: a repeated \
        request receives 409 `record-deleted`. Sends no request to Mintlify.",
    success: Success::Empty("The record was deleted."),
    gives: &[],
    problems: &[RECORD],
    ..READS
};

const SERIES: More = More {
    doc: "Returns data of the gateway's archive, which stores each finished day (UTC) of the \
        projects that the operator lists. Sends no request to Mintlify. `missing` lists days \
        that are not stored and not counted. `path` and `prefix` must not both be set, \
        `dateFrom` must be before `dateTo`, and the range has at most 3660 days. The response is \
        fresh for a day if none of its days can change any more, and for five minutes otherwise.",
    success: Success::Archived("The groups with at least one stored day, in order."),
    takes: &["If-None-Match"],
    gives: &[],
    problems: &[ARCHIVE],
};

const ARCHIVED_VIEWS: More = More {
    doc: "Sums the views of each page over the stored days (UTC) of the range. Sends no request to \
        Mintlify. `missing` lists days that are not stored and not counted. `dateFrom` must be \
        before `dateTo`, and the range has at most 3660 days. Ranges of more than 400 days have \
        pages of fewer rows. Paths of more than 16 segments or 1,024 bytes are not listed, but \
        count in `totals`. The response is fresh for a day if none of its days can change any \
        more, and for five minutes otherwise.",
    success: Success::Archived("The pages with views, in order of their paths."),
    ..SERIES
};

const ARCHIVE_STATUS: More = More {
    doc: "",
    success: Success::Made("The stored and the missing days."),
    takes: &[],
    ..SERIES
};

const BACKFILL_ESTIMATE: More = More {
    doc: "For operators. Excludes days that the archive does not retain.",
    success: Success::Made("The estimate."),
    ..ARCHIVE_STATUS
};

const BACKFILL: More = More {
    doc: "For operators. The cron trigger fetches the days, oldest first, within the archive's \
        share of the budget. Repeating the request changes nothing. A later day does not shorten \
        a backfill.",
    success: Success::Accepted("The backfill has started. Contains its estimate."),
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
        Operation::ListArchivedViews => ARCHIVED_VIEWS,
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
        Pagination::Cursor { .. } | Pagination::None => More {
            doc: WHOLE_REPORT,
            success: Success::Cached("The report."),
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
        .filter(|(own, _)| own.place != ParameterIn::Body)
        .map(|(own, doc)| {
            json!({
                "name": own.name,
                "in": if own.place == ParameterIn::Path { "path" } else { "query" },
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
        Operation::ListArchivedViews => matches!(name, "dateFrom" | "dateTo"),
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
    let members = list_parameters(operation).filter(|(own, _)| own.place == ParameterIn::Body);
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
        "description": format!("JSON in UTF-8, at most {MAX_BODY} bytes, without repeated \
            properties."),
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
            vec![("200", exports::rows(operation, &fields))]
        }
        Success::Empty(doc) => vec![("204", empty(doc, &Fields::common()))],
    };
    successes
        .into_iter()
        .map(|(status, response)| (status.to_owned(), response))
        .collect()
}

const AS_UPSTREAM: &str = "Another 2xx response of Mintlify, with its own status.";
const FINISHED: &str = "The job has ended or is no longer polled, and you have received its last \
    event. Do not reconnect.";
const UNCHANGED: &str = "You have the current rows (`If-None-Match`).";

fn empty(doc: &str, fields: &Fields) -> Value {
    json!({
        "description": doc,
        "headers": fields.described(),
    })
}
