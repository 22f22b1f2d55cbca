//! The parts of each operation's description that the core's declaration lacks, such as header
//! fields and problems.

use quillgate::Operation;
use quillgate::declaration::Pagination;

use super::problems::{self, ARCHIVE, BODY, BUDGET, DEPLOYMENT, RECORD, STREAM, UPSTREAM, WRITING};
use quillgate_worker::http::problem_kind::ProblemKind;

/// The parts of an operation's description that the core's declaration lacks.
#[derive(Clone, Copy)]
pub struct Details {
    /// The operation's `description`. Omitted from the document if empty.
    pub doc: &'static str,
    /// The source and the description of the operation's 2xx response.
    pub success: Success,
    /// The header fields that the operation's requests may have, in addition to
    /// [`ALL_REQUESTS`](super::fields::ALL_REQUESTS) and [`KEYED`](super::fields::KEYED).
    pub request_fields: &'static [&'static str],
    /// The header fields that the operation's responses may have after the gateway has checked the
    /// budget or called Mintlify.
    pub response_fields: &'static [&'static str],
    /// The problems that the operation can cause, in addition to the problems that every operation
    /// can cause.
    pub problems: &'static [&'static [ProblemKind]],
}

/// The source of a 2xx response, with its description.
#[derive(Clone, Copy)]
pub enum Success {
    /// From Mintlify. The values are the documented status, the description and the optional
    /// header fields.
    Forwarded(&'static str, &'static str, &'static [&'static str]),
    /// From the gateway itself, with status 200.
    Generated(&'static str),
    /// From Mintlify or the gateway's cache, with status 200 or 304.
    Cached(&'static str),
    /// From the archive, with status 200 or 304.
    Archived(&'static str),
    /// From the gateway, with status 202. The work continues after the response.
    Accepted(&'static str),
    /// The event stream of one job, or status 204 if no more events can follow.
    Streamed,
    /// The event stream of the job list. Unlike a job, the list can always change, so the status is
    /// never 204.
    ListStreamed,
    /// A stream of exported rows.
    Exported,
    /// A response without a body, with status 204.
    Empty(&'static str),
}

/// The header fields that responses may have after the budget check.
pub const RATE_LIMIT: [&str; 2] = ["RateLimit-Policy", "RateLimit"];

/// The defaults of operations that read from Mintlify.
const READS: Details = Details {
    doc: "",
    success: Success::Forwarded("200", "The response of Mintlify.", &[]),
    request_fields: &[],
    response_fields: &["RateLimit-Policy", "RateLimit", "Server-Timing"],
    problems: &[UPSTREAM, BUDGET],
};

/// The defaults of operations that write to Mintlify.
const WRITES: Details = Details {
    doc: "",
    success: Success::Forwarded("201", "The response of Mintlify.", &[]),
    request_fields: &[],
    response_fields: &[
        "RateLimit-Policy",
        "RateLimit",
        "Server-Timing",
        "Idempotent-Replayed",
    ],
    problems: &[UPSTREAM, BUDGET, WRITING],
};

const CREATE: Details = Details {
    doc: "The default budget is 100 jobs per project in any 60 minutes.",
    success: Success::Forwarded("201", "The started job.", &[]),
    request_fields: &["Webhook-Url"],
    ..WRITES
};

const SEND: Details = Details {
    doc: "The default budget is 100 follow-ups per project in any 60 minutes. `Webhook-Url` is \
        rejected, because it belongs to the creation of a job.",
    success: Success::Forwarded("200", "The job, active again.", &[]),
    ..WRITES
};

const GET: Details = Details {
    doc: "With `Prefer: wait`, the response waits for a change, at most until the access token \
        expires. It then has the state's `ETag` and `Preference-Applied`. While it waits, it \
        counts as a stream. If Mintlify fails temporarily, the response has the latest stored \
        state, and `Cache-Status` has `detail=stale`.",
    success: Success::Forwarded(
        "200",
        "The job.",
        &[
            "ETag",
            "Preference-Applied",
            "Content-Language",
            "Cache-Status",
        ],
    ),
    request_fields: &["Prefer", "If-None-Match"],
    problems: &[UPSTREAM, BUDGET, STREAM],
    ..READS
};

const LIST: Details = Details {
    doc: "The gateway stores this list, by default for 90 days. Jobs that have not ended have the \
        state that Mintlify last reported. Each request polls at most 8 of them, those that were \
        polled the longest ago. By default, polling stops one day after a job last started. All \
        pages of a list must have the same `state`, `author` and `text`. A page of a search scans \
        at most 2,000 jobs, so it can be empty although older jobs match: follow `nextCursor`.",
    success: Success::Generated("The jobs, newest first."),
    response_fields: &RATE_LIMIT,
    problems: &[BUDGET],
    ..READS
};

const REPORT: Details = Details {
    doc: "Cached for a day if `dateTo` is before yesterday (UTC), and by default for five \
        minutes otherwise. If Mintlify fails or the budget of 100 requests in any 60 minutes is \
        used up, cached rows are served for another day, and `Cache-Status` shows it. If the rows \
        come from pages with different totals and the gateway cannot fetch them again, \
        `Cache-Status` ends with `mixed`: rows can be missing or repeated. `dateFrom` \
        must be before `dateTo`. `offset` plus `limit` must be at most 9007199254740991.",
    success: Success::Cached("The rows."),
    request_fields: &["If-None-Match", "Cache-Control"],
    response_fields: &["RateLimit-Policy", "RateLimit", "Server-Timing"],
    problems: &[UPSTREAM, BUDGET],
};

const WHOLE_REPORT: &str = "Cached for a day if `dateTo` is before yesterday (UTC), and by \
    default for five minutes otherwise. If Mintlify fails or the budget of 100 requests in any \
    60 minutes is used up, the cached report is served for another day, and `Cache-Status` shows \
    it. `dateFrom` must be before `dateTo`.";

const EVENTS: Details = Details {
    doc: "Sends an event `job` for each change, numbered from 1. The last 100 are stored. A \
        comment follows every 15 seconds. The stream ends after the job has ended, when the \
        access token expires, and after an hour (five minutes in a session). Then connect again. \
        By default, polling stops after one day, and an event `end` announces it. By default, a \
        caller can have 100 open streams per project, and a job 1,000.",
    success: Success::Streamed,
    request_fields: &["Last-Event-ID"],
    problems: &[UPSTREAM, BUDGET, STREAM],
    ..READS
};

const LIST_EVENTS: Details = Details {
    doc: "Sends an event `job` with the listed job for each job that is new, changed or received \
        a follow-up, and an event `deleted` for each deleted record. Events are numbered per \
        project. Without `Last-Event-ID`, the stream starts with the 25 jobs that changed last. \
        With it, or with the `revision` of a list in its place, the stream starts with the \
        changes since then: at most 250 jobs, each once in its current state, and 250 deletions \
        of the last day. If some of these changes are no \
        longer stored, the stream starts like a new one, followed by an event `reset`: load the \
        list again. While a stream is open, the gateway polls the latest 50 jobs that have not \
        ended, by default until one day after a job last started. A comment follows every 15 \
        seconds. The stream ends when the access token expires, and after an hour (five minutes \
        in a session). Then connect again. By default, a caller can have 100 open streams per \
        project, and the list 1,000.",
    success: Success::ListStreamed,
    problems: &[BUDGET, STREAM],
    ..EVENTS
};

const READ_RECORD: Details = Details {
    doc: "For jobs that were created through the gateway. Prompts are complete, unless the \
        operator stores only their first line (`KEEP_PROMPTS=first-line`). The gateway polls a \
        job that has not ended, however old it is.",
    success: Success::Generated("The record."),
    response_fields: &RATE_LIMIT,
    problems: &[BUDGET, RECORD],
    ..READS
};

const EXPORT: Details = Details {
    doc: "Streams every row of the range page by page, with the cache and budget of the report. \
        Rows also have properties that the gateway does not know. An export that cannot continue \
        ends with a last record with the reason and the cursor to resume from: `{\"incomplete\": \
        {\"cursor\", \"problem\", \"retryAfter\"}}` in NDJSON, a record with `#incomplete` in \
        the first cell in CSV. With a cursor, CSV has no byte order mark and no header, so that \
        the joined parts equal the whole. If the totals changed while the export was read, its \
        last record says so, because rows can be missing or repeated: `{\"mixed\": \
        {\"problem\"}}` in NDJSON, a record with `#mixed` in the first cell in CSV. The export \
        also ends when the access token expires. If the connection closes before the last chunk, \
        the export is incomplete.",
    success: Success::Exported,
    request_fields: &["Cache-Control"],
    problems: &[UPSTREAM, BUDGET, problems::EXPORT],
    ..READS
};

const DELETE_RECORD: Details = Details {
    doc: "For operators. Deletes the job's entry in the list, its prompt, messages and changes, \
        and pending webhooks. Streams of the job end, and streams of the list send an event. \
        Stored responses of idempotency keys are deleted, but the keys remain in use: a repeated \
        request receives 409 `record-deleted`. Sends no request to Mintlify.",
    success: Success::Empty("The record was deleted."),
    response_fields: &[],
    problems: &[RECORD],
    ..READS
};

const DEPLOY: Details = Details {
    doc: "All projects and automations together can start 10 in any 10 seconds by default. With \
        `Prefer: wait`, the request waits for a free slot, at most that long, instead of an \
        immediate 429. The request has no body. The response arrives before the deployment has \
        ended.",
    success: Success::Forwarded("202", "The started deployment.", &[]),
    request_fields: &["Webhook-Url", "Prefer"],
    ..WRITES
};

const PREVIEW: Details = Details {
    doc: "All projects together can start 5 previews in any 60 seconds by default. With `Prefer: \
        wait`, the request waits for a free slot, at most that long, instead of an immediate 429. \
        The response arrives before the deployment has ended. For minutes, the preview can \
        respond 404 although its deployment has succeeded.",
    success: Success::Forwarded("202", "The started preview.", &[]),
    ..DEPLOY
};

const RUN: Details = Details {
    doc: "A run costs credits. Runs count like deployments: together 10 in any 10 seconds by \
        default. The request has no body. `Webhook-Url` is rejected, because Mintlify does not \
        report the end of a run.",
    success: Success::Forwarded("202", "The queued run.", &[]),
    request_fields: &["Prefer"],
    ..WRITES
};

const GET_DEPLOYMENT: Details = Details {
    doc: "For deployments that were started through the gateway, and for others if Mintlify's \
        response names a project of the access token. `Prefer: wait` and failures of Mintlify have \
        the same effect as for a job. Status `failure` can mean that the content is live and only \
        a domain was not revalidated: `summary` and `logs` say so.",
    problems: &[UPSTREAM, BUDGET, STREAM, DEPLOYMENT],
    success: Success::Forwarded(
        "200",
        "The deployment.",
        &[
            "ETag",
            "Preference-Applied",
            "Content-Language",
            "Cache-Status",
        ],
    ),
    ..GET
};

const LIST_DEPLOYMENTS: Details = Details {
    doc: "The gateway stores this list, by default for 90 days. Deployments that have not ended \
        have the state that Mintlify last reported. Each request polls at most 8 of them, those \
        that were polled the longest ago.",
    success: Success::Generated("The deployments and previews, newest first."),
    ..LIST
};

const DEPLOYMENT_EVENTS: Details = Details {
    doc: "For deployments that were started through the gateway. Sends an event `deployment` for \
        each change. Numbers, comments, limits and the end are those of the events of a job.",
    problems: &[UPSTREAM, BUDGET, STREAM, DEPLOYMENT],
    ..EVENTS
};

const ALL_DEPLOYMENT_EVENTS: Details = Details {
    doc: "Sends an event `deployment` with the listed deployment for each one that is new or \
        changed, and an event `deleted` for each deleted record. Numbers, `reset`, comments, \
        limits and the end are those of the events of all jobs.",
    ..LIST_EVENTS
};

const DELETE_DEPLOYMENT: Details = Details {
    doc: "For operators. Deletes the deployment's entry in the list and its pending webhooks. \
        Streams of the deployment end, and streams of the list send an event. Stored responses of \
        idempotency keys are deleted, but the keys remain in use. Sends no request to Mintlify.",
    problems: &[DEPLOYMENT],
    ..DELETE_RECORD
};

const SERIES: Details = Details {
    doc: "Returns data of the gateway's archive, which stores each finished day (UTC) of the \
        projects that the operator lists. Sends no request to Mintlify. `missing` lists days \
        that are not stored and not counted. `path` and `prefix` must not both be set, \
        `dateFrom` must be before `dateTo`, and the range has at most 3660 days. A response for a \
        prefix covers at most 200,000 stored counts of pages: further groups are on the next \
        page, and a group with more counts is rejected. The response is fresh for a day if none \
        of its days can change any more, and for five minutes otherwise.",
    success: Success::Archived("The groups with at least one stored day, in order."),
    request_fields: &["If-None-Match"],
    response_fields: &[],
    problems: &[ARCHIVE],
};

const ARCHIVED_VIEWS: Details = Details {
    doc: "Sums the views of each page over the stored days (UTC) of the range. Sends no request to \
        Mintlify. `missing` lists days that are not stored and not counted. `dateFrom` must be \
        before `dateTo`, and the range has at most 3660 days. Ranges of more than 133 days have \
        pages of fewer rows. A path of more than 1,024 bytes is cut and ends with `…`. The \
        response is fresh for a day if none of its days can change any more, and for five minutes \
        otherwise.",
    success: Success::Archived("The pages with views, in order of their paths."),
    ..SERIES
};

const ARCHIVE_STATUS: Details = Details {
    doc: "",
    success: Success::Generated("The stored and the missing days."),
    request_fields: &[],
    ..SERIES
};

const BACKFILL_ESTIMATE: Details = Details {
    doc: "For operators. Excludes days that the archive does not retain.",
    success: Success::Generated("The estimate."),
    ..ARCHIVE_STATUS
};

const BACKFILL: Details = Details {
    doc: "For operators. The cron trigger fetches the days, oldest first, within the archive's \
        share of the budget. Repeating the request changes nothing. A later day does not shorten \
        a backfill.",
    success: Success::Accepted("The backfill has started. Contains its estimate."),
    problems: &[ARCHIVE, BODY],
    ..ARCHIVE_STATUS
};

/// Returns the details of an operation.
pub fn details(operation: Operation) -> Details {
    match operation {
        Operation::CreateAgentJob => CREATE,
        Operation::SendMessage => SEND,
        Operation::GetAgentJob => GET,
        Operation::ListAgentJobs => LIST,
        Operation::StreamAgentJobEvents => EVENTS,
        Operation::StreamProjectJobEvents => LIST_EVENTS,
        Operation::CreateDeployment => DEPLOY,
        Operation::CreatePreview => PREVIEW,
        Operation::RunAutomation => RUN,
        Operation::GetDeployment => GET_DEPLOYMENT,
        Operation::ListDeployments => LIST_DEPLOYMENTS,
        Operation::StreamDeploymentEvents => DEPLOYMENT_EVENTS,
        Operation::StreamProjectDeploymentEvents => ALL_DEPLOYMENT_EVENTS,
        Operation::DeleteDeploymentRecord => DELETE_DEPLOYMENT,
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

/// Returns the details that all analytics reports with this pagination share.
const fn describe_report(pagination: Pagination) -> Details {
    match pagination {
        Pagination::Offset { .. } => REPORT,
        Pagination::Cursor { .. } | Pagination::None => Details {
            doc: WHOLE_REPORT,
            success: Success::Cached("The report."),
            ..REPORT
        },
    }
}
