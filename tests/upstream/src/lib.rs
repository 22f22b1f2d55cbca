//! A simulator of the documentation platform's admin API.
//!
//! It replaces the real platform in the end-to-end suites, in benchmarks and behind `npm start`.
//! All its state is in memory and disappears when it stops.
//!
//! ```text
//! cargo run -p upstream -- --port 8788
//! ```
//!
//! When the simulator accepts requests, it prints `upstream listening on http://127.0.0.1:8788` to
//! standard output. It listens on the loopback interface only and exits on SIGINT or SIGTERM.
//!
//! # Profiles
//!
//! `--profile published` follows Mintlify's descriptions. `--profile live` also does what users of
//! the real platform or Mintlify's own programs show; `docs/platform.md` lists the sources:
//!
//! - Some search terms are the beginnings of others, as readers typed them.
//! - All turns of a thread have the `id` of the first.
//! - Every other `nextCursor` is a URL. Only its `cursor` may be sent.
//! - A target with a cursor and more than 256 bytes is 414, such as one with a URL as its cursor. A
//!   cursor alone continues its range.
//! - `source.repository` is a URL.
//!
//! In every profile, the id of a project can change its behaviour: `empty-…` has no data,
//! `no-feedback-…` collects no feedback, and `free-…` has a plan without the API (401). In the profile
//! `published`, `free-…` has no previews (403). `deploy-…` selects a course, see below.
//!
//! `--clock-rate` accelerates the clock: with `--job-duration-ms 90000 --clock-rate 15`, jobs take six
//! seconds of real time. Deployments, limits and days follow the clock.
//!
//! # The API
//!
//! A request is checked in this order: key (401, 403), project (403), input (400), job, thread,
//! deployment or automation (404), limit (429). Only a request that passes all other checks counts
//! towards the limit. The limit covers the last hour. Creations and follow-ups are limited per project,
//! analytics requests across all projects. Deployments and runs of automations share a limit per ten
//! seconds, and previews have one per minute, both across all projects. With `--reads-share-job-limit`, every read of a job counts as a creation, even if the
//! job does not exist.
//!
//! Every response has an `x-request-id`. It also has headers that a proxy must not forward:
//! `set-cookie`, `server`, `x-internal-host` and `x-powered-by`.
//!
//! ## Jobs
//!
//! A job is `active` for the job duration, then `completed` with a `prLink`. A follow-up makes it
//! `active` for the same duration again and keeps its `prLink`. Directives in the prompt change how
//! the job ends:
//!
//! | directive | effect |
//! | --- | --- |
//! | `[no-changes]` | completes without a pull request |
//! | `[fail]` | fails |
//! | `[archive]` | completes, and is archived one job duration later |
//! | `[status:xyz]` | has the status `xyz` in the middle third of the run |
//!
//! Job ids are unique, even between runs. A gateway that stores jobs never confuses two of them.
//!
//! ## Deployments and previews
//!
//! A deployment is `queued` for a ninth of the deployment duration, then `in_progress`, and ends with
//! `success`. `logs` gets a sentence per step; `summary` and `endedAt` appear at the end. A preview has
//! the same states, but is not indexed. Its URL has the branch in its host. Any project's status is
//! readable by its id. Names select another course:
//!
//! | course | branch | project | effect |
//! | --- | --- | --- | --- |
//! | `success` | others | others | succeeds |
//! | `fail` | `fail-…` | `deploy-fail-…` | fails before anything is published |
//! | `live-failure` | `live-failure-…` | `deploy-live-failure-…` | publishes, but cannot revalidate the domain |
//! | `subdomain-failure` | `subdomain-failure-…` | `deploy-subdomain-failure-…` | publishes, but cannot revalidate the subdomain |
//! | `slow` | `slow-…` | `deploy-slow-…` | succeeds after ten times the duration |
//! | `stuck` | `stuck-…` | `deploy-stuck-…` | stays `in_progress` |
//!
//! The name of a branch counts from its start or after a slash, as in `docs/slow-images`. Only branches
//! select the course of previews, and only projects that of other deployments. A course from the control
//! API applies to both and precedes names.
//!
//! ## Automations
//!
//! Every automation exists, except `unknown…` (404). `unscheduled…` and `inactive…` are 400.
//!
//! ## Reports
//!
//! The seed, the project and the range determine all data. The current time does not matter, so a
//! future range has data too. All days are UTC days. Without `dateTo`, a range includes all of today.
//! Without `dateFrom`, it begins 90 days before its end.
//!
//! Paths, comments, terms and questions include strings that are difficult in CSV, in URLs or in a
//! spreadsheet: formulas, quotes, separators, line breaks, and scripts of several directions. Unknown
//! parameters are ignored. The first of several parameters with one name wins.
//!
//! `--data demo` replaces these strings with those of a site that people recognize. Interest in each page
//! then rises and falls over months, with fewer views on weekends. `npm start` uses it.
//!
//! **Page views.** A project has the number of pages that `--pages` sets. Views are summed over the
//! days of the range. Saturdays and Sundays have fewer human views. Each page has at least one view
//! per day, so every non-empty range lists every page. A longer range never has fewer views than a
//! shorter one. Adjacent ranges add up. Rows are sorted by total, largest first, then by path.
//!
//! With `--varying-days`, each day has different counts. Some pages have no views on some days and
//! are missing from the rows of those days, as on the real platform. Adjacent ranges still add up,
//! page by page.
//!
//! **Visitors.** The rows list the same pages, with at most as many visitors as views. `total`
//! deduplicates people and AI: it is at least the larger count and at most the sum. The totals also
//! deduplicate across pages: they are at most the sum of the rows and at least the largest row.
//!
//! **Feedback.** Any thirty days from 2015 to 2039 have the number of entries that `--feedback` sets,
//! newest first. Sixteen entries in a row combine all four sources with all four statuses. Nullable
//! fields are sometimes null, including `createdAt`. `status` is a list separated by commas. An
//! unknown status matches nothing. Pages are sorted by feedback, most first, then by path. `total`
//! counts entries of all sources.
//!
//! **Searches.** There are as many terms as `--searches` sets, each searched for at least once a day.
//! They are sorted by hits, most first, then by term. `ctr` is a percentage from 0 to 100, and is 0
//! exactly if `topClickedPage` is `null`. Every term was last searched for on the last day of the range.
//!
//! **Conversations.** Each row is one turn and has a unique `id`. Any thirty days from 2015 to 2039 have
//! the number of turns that `--conversations` sets, newest first. Threads have one to three turns and
//! overlap each other. The id of any turn finds its thread. The `threadId` is the id of the first turn.
//! `responseType` is sometimes absent. Caller stats count the same rows.
//!
//! **Cursors.** The cursors of feedback and searches are opaque. They contain characters that must be
//! encoded in a query. Only the same list accepts them: the same operation, project, range and filters,
//! with any `limit`. The cursor of conversations is the id of the last row on the page. Any other cursor
//! results in a 400.
//!
//! # The control API
//!
//! The control API is below `/__control` and needs no key. Its requests are not counted.
//!
//! | request | effect |
//! | --- | --- |
//! | `GET /counters` | counts of requests by operation and status, of jobs, messages, deployments, previews and runs of automations, and of held requests |
//! | `GET /requests` | the last 2,500 API requests, oldest first; names replace keys |
//! | `POST /reset` | clears counters, requests, faults, late counts, limit uses, jobs, deployments, courses and runs; aborts held requests |
//! | `POST /faults` | queues a fault, see below |
//! | `DELETE /faults` | clears the queued faults |
//! | `POST /fault-rate` | `{perThousand, seed?}`: makes this many of a thousand requests fail at random, see below |
//! | `GET /fault-rate` | `{perThousand, injected}`: the number of failed requests by kind |
//! | `DELETE /fault-rate` | stops random faults |
//! | `POST /release` | `{count?}`: releases the oldest held requests; without `count` all, and removes queued holds |
//! | `GET /clock` | `{now, today}`: milliseconds since the epoch, and the UTC day |
//! | `POST /clock` | `{forwardMs}`: advances the clock; jobs, deployments, limits and today follow it, delays do not |
//! | `POST /late` | `{day, percent}` or `{afterDays, percent}`: sets late counts, see below |
//! | `POST /limits` | `{create?, message?, analytics?, deployment?, preview?, windowMs?}`; `null` means no limit, without `windowMs` each limit has its usual window |
//! | `DELETE /limits` | restores the limits of the options |
//! | `GET /views?projectId&dateFrom&dateTo` | totals and all rows of the page views in a range |
//! | `GET /analytics?projectId&report&dateFrom&dateTo` | the same for any report, see below |
//! | `GET /rows?projectId&report&dateFrom&dateTo` | the rows of a list, one per line, with the JSON of its pages |
//! | `POST /keys` | `{key?, name?, state}`; state `accepted`, `expired`, `read` or `write` |
//! | `GET /jobs` | all jobs in the order of their addition, with project, prompt, messages, `origin` and `reads` |
//! | `GET /jobs/{id}` | one job |
//! | `POST /jobs/{id}` | `{status?, prLink?, archivedAt?}`: forces fields until the next follow-up |
//! | `PUT /jobs/{id}` | `{projectId, createdAt}`: adds or replaces an earlier job; milliseconds since the epoch |
//! | `GET /deployments` | all deployments and previews in the order of their addition, with `branch`, `previewUrl`, `origin` and `reads` |
//! | `POST /deployments` | `{course}`: the course of the next deployment or preview; several are queued |
//! | `GET /deployments/{id}` | one deployment or preview |
//! | `POST /deployments/{id}` | `{status?, logs?, summary?, endedAt?}`: forces properties |
//! | `PUT /deployments/{id}` | `{projectId, createdAt}`: adds or replaces an earlier deployment |
//! | `GET /automation-runs` | all runs of automations in their order, with `projectId`, `createdAt` and `origin` |
//!
//! A `report` is named by the end of its path: `views`, `visitors`, `feedback`, `feedback/by-page`,
//! `searches`, `assistant` or `assistant/caller-stats`. The response equals that of the API with all
//! rows, without `hasMore` and `nextCursor`. The filters `source` and `status` work as in the API.
//! Without `projectId`, the report is for the first project.
//!
//! `{day, percent}` adds `percent` of a usual working day to the views and visitors of every page on
//! that day, at least one. Pages without views then appear in its rows. `{afterDays, percent}` withholds
//! `percent` of each day, rounded up, until that many whole days after its end. With 100, the day is
//! empty until then. The rows and totals of every range change, in the control API too.
//!
//! The keys of the options are named `key` and `read-key`. Other keys have the name that they were
//! given. A setting without `key` changes all keys with that name. An `origin` contains `key` (a name,
//! never the key), `userAgent`, `traceparent` and `idempotencyKey` of the creation. `reads` are `count`
//! and `at`, the times of the last 500 requests for the job or deployment.
//!
//! ## Faults
//!
//! A fault is `{operation?, target?, times?, after?, fault: {kind, …}}`.
//!
//! - `operation`: `agentJobs.create`, `agentJobs.get`, `agentJobs.sendMessage`, `analytics.views`,
//!   `analytics.visitors`, `analytics.feedback`, `analytics.feedbackByPage`, `analytics.searches`,
//!   `analytics.conversations`, `analytics.conversation`, `analytics.callerStats`, `deployments.create`,
//!   `deployments.get`, `previews.create`, `automations.run` or `other`; by default every operation
//! - `target`: a substring of the path and query as sent; by default every target
//! - `times`: the number of requests that it applies to, 1 by default; 0 means until cleared
//! - `after`: the number of matching requests to pass first
//!
//! Faults are queued. A request gets the first queued fault that matches it. The next fault follows when
//! the first is used up.
//!
//! | `kind` | other fields | effect |
//! | --- | --- | --- |
//! | `status` | `status`, `body?`, `contentType?`, `headers?`, `process?` | this response, by default an `{error}` |
//! | `json` | `status`, `body` | this JSON |
//! | `html` | `status` | an HTML error page |
//! | `edge` | `form`: `code` or `challenge` | a 403 of the network in front: text with a code, or an HTML page |
//! | `empty` | `status` | no body |
//! | `redirect` | `status`, `location` | this redirect |
//! | `hold` | `process?`, `next?` | waits for `POST /release`, then continues normally or with the fault `next` |
//! | `hang` | `process?` | never responds |
//! | `reset` | `process?` | TCP reset before any response |
//! | `cutBody`* | `bytes?` | full `content-length`, half the body or `bytes` bytes, end of connection |
//! | `cutChunked`* | `bytes?` | chunked, half the body or `bytes` bytes, no last chunk |
//! | `malformedJson`* | | 200 with half the body, valid as HTTP |
//! | `slowDrip`* | `chunkBytes`, `intervalMs` | the body in small chunks |
//!
//! The kinds with a star and those with `process: true` process the request. The others
//! respond in its place, before any check. A `hold` processes the request after its release, or before
//! with `process: true`.
//!
//! A fault rate applies to requests that no queued fault matches. Each kind has the same probability.
//! `reset`, `503` and `502-page` (HTML) replace processing, and so does `empty-success`. `reset-after`,
//! `500-after`, `504-after`, `cut-body`, `cut-head` (no byte of the body), `cut-chunked` and `malformed`
//! follow it. The same seed selects the same requests of a sequence.

mod agent_job;
mod analytics;
mod api_error;
mod auth;
mod automation;
mod body;
mod clock;
mod connection;
mod continuation;
mod control;
mod conversations;
mod cursor;
mod data;
mod date;
mod deployment;
mod fault;
mod feedback;
mod field;
mod held;
mod interceptor;
mod json_body;
mod limits;
mod operation;
mod options;
mod origin;
mod page_views;
mod parameters;
mod platform;
mod profile;
mod random;
mod random_faults;
mod request_log;
mod routes;
mod searches;
mod simulator;
mod ulid;
mod visitors;

pub use options::{AdminKey, DataSet, Options};
pub use profile::{DEFAULT_PROFILE, Profile};
pub use simulator::{Running, Simulator};
