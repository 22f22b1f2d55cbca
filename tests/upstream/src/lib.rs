//! A simulator of the documentation platform's admin API.
//!
//! It stands in for the real platform in the end-to-end suites and behind
//! `npm start`. Everything it knows is in memory and gone when it stops.
//!
//! ```text
//! cargo run -p upstream -- --port 8788
//! ```
//!
//! The first line on standard output, once requests are taken, is
//! `upstream listening on http://127.0.0.1:8788`. It listens on the loopback
//! interface only and ends on SIGINT or SIGTERM.
//!
//! # The API
//!
//! | request | answers |
//! | --- | --- |
//! | `POST /v2/agent/{projectId}/job` | 201, 400, 401, 403, 429 |
//! | `GET /v2/agent/{projectId}/job/{id}` | 200, 401, 403, 404 |
//! | `POST /v2/agent/{projectId}/job/{id}/message` | 200, 400, 401, 403, 404, 429 |
//! | `GET /v1/analytics/{projectId}/views` | 200, 400, 401, 403, 429 |
//! | `GET /v1/analytics/{projectId}/visitors` | 200, 400, 401, 403, 429 |
//! | `GET /v1/analytics/{projectId}/feedback` | 200, 400, 401, 403, 429 |
//! | `GET /v1/analytics/{projectId}/feedback/by-page` | 200, 400, 401, 403, 429 |
//! | `GET /v1/analytics/{projectId}/searches` | 200, 400, 401, 403, 429 |
//! | `GET /v1/analytics/{projectId}/assistant` | 200, 400, 401, 403, 429 |
//! | `GET /v1/analytics/{projectId}/assistant/threads/{threadId}` | 200, 400, 401, 403, 404, 429 |
//! | `GET /v1/analytics/{projectId}/assistant/caller-stats` | 200, 400, 401, 403, 429 |
//!
//! A request is checked in this order: key (401, 403), project (403), input
//! (400), job or thread (404), limit (429). Only a request that passes all of
//! them uses up the limit, which slides over the last hour. Creations and
//! follow-ups are limited per project, analytics for the organisation as a whole.
//!
//! Every answer carries an `x-request-id`, and headers that a proxy should
//! not pass on: `set-cookie`, `server`, `x-internal-host`, `x-powered-by`.
//!
//! ## Jobs
//!
//! A job is `active` for the job duration, then `completed` with a `prLink`.
//! A follow-up makes it `active` for as long again; a `prLink` that it already
//! has stays. A prompt that contains one of these words takes another course:
//!
//! | in the prompt | course |
//! | --- | --- |
//! | `[no-changes]` | completes without a pull request |
//! | `[fail]` | fails |
//! | `[archive]` | completes, and is archived one job duration later |
//! | `[status:xyz]` | reports the status `xyz` in the middle third of the run |
//!
//! Job ids are never handed out twice, not even by a later start, so that a
//! gateway which remembers jobs does not mistake one for another.
//!
//! ## Reports
//!
//! All data follows from the seed, the project and the range, and nothing from
//! the moment: a range of the future has data like any other. Without `dateTo` a
//! range includes today, all of it; without `dateFrom` it begins 90 days before its
//! end; all days are UTC days. A project whose id begins with `empty-` has no data.
//! Paths, comments, terms and questions hold text that is troublesome in CSV, in
//! addresses or in a spreadsheet: formulas, quotes, separators, line breaks, scripts
//! of several directions. Unknown parameters are ignored, and the first counts of
//! several with one name.
//!
//! **Page views.** A project has as many pages as `--pages` says. Views are the sum
//! over a range's days, with fewer human views on Saturdays and Sundays. Each page
//! has at least one view a day, so a range of a day or more lists every page; a longer
//! range never shows less than a shorter one. Adjacent ranges add up. Rows are sorted
//! by total, largest first, then by path.
//!
//! With `--varying-days` each day has counts of its own, and some pages have no views on a
//! day: then they are not among its rows, as on a real platform. Adjacent ranges still add
//! up, page by page.
//!
//! **Visitors.** The same pages with at most as many visitors as views. `total` is
//! deduplicated across people and AI: at least the larger count, at most the sum. The
//! totals are deduplicated across pages too: at most the sum of the rows, and never below
//! any of them.
//!
//! **Feedback.** As many entries in any thirty days as `--feedback` says, from 2015 to
//! 2039, newest first. Sixteen in a row have all four sources with all four statuses.
//! What may be `null` sometimes is, `createdAt` as well. `status` is a list separated
//! by commas; a status that does not exist matches nothing. By page, most feedback
//! first, then by path; `total` counts entries of all sources.
//!
//! **Searches.** As many terms as `--searches` says, each searched for at least once
//! a day: most hits first, then by term. `ctr` is a fraction from 0 to 1, and is 0
//! exactly when `topClickedPage` is `null`. Each was searched last on the range's last day.
//!
//! **Conversations.** One row per turn, as many in any thirty days as `--conversations`
//! says, from 2015 to 2039, newest first. Each row's `id` is its own. Threads have one
//! to three turns, between which turns of others lie. The id of any of its turns leads
//! to a thread, whose `threadId` is that of the first. `responseType` is sometimes left
//! out. Caller stats count the same rows.
//!
//! **Cursors.** Those of feedback and searches are opaque, hold characters that a
//! query has to encode, and are accepted by the list alone that gave them: of the same
//! operation, project, range and filters, though with any `limit`. That of
//! conversations is the id of the last row shown. Any other is answered with 400.
//!
//! # The control routes
//!
//! Outside the API, without a key, under `/__control`. They are not counted.
//!
//! | request | effect |
//! | --- | --- |
//! | `GET /counters` | what was received and answered so far, and how many requests are held |
//! | `GET /requests` | the last 500 API requests, oldest first; keys are replaced by words |
//! | `POST /reset` | forgets counters, requests, faults, holes, what came late, what limits have taken, and jobs; breaks held requests off |
//! | `POST /faults` | queues a fault: see below |
//! | `DELETE /faults` | drops the queued faults |
//! | `POST /fault-rate` | `{perThousand, seed?}`: from now on so many of a thousand requests go wrong at random, see below |
//! | `GET /fault-rate` | `{perThousand, injected}`: how many requests went wrong so far, by the way in which they did |
//! | `DELETE /fault-rate` | none goes wrong at random any more |
//! | `POST /release` | `{count?}`: lets the oldest held requests go on; without `count` all, and drops the queued holds |
//! | `GET /clock` | `{now, today}`: milliseconds since the epoch, and the UTC day |
//! | `POST /clock` | `{forwardMs}`: moves the clock forward, never back; jobs, limits and today follow it, waits do not |
//! | `POST /late` | `{day, percent}` or `{afterDays, percent}`: counts that come late, see below |
//! | `DELETE /late` | none comes late |
//! | `POST /holes` | `{at, places}`: so many places of every list are empty from one on, see below |
//! | `DELETE /holes` | there are none any more |
//! | `GET /limits` | `{create, message, analytics}` |
//! | `POST /limits` | `{create?, message?, analytics?, windowMs?}`; `null` is no limit, the window is an hour unless told |
//! | `DELETE /limits` | back to the limits of the start |
//! | `GET /views?projectId&dateFrom&dateTo` | totals and all rows of the page views of a range |
//! | `GET /analytics?projectId&report&dateFrom&dateTo` | the same of any report; see below |
//! | `GET /rows?projectId&report&dateFrom&dateTo` | the rows of a list, a line for each: the very JSON that its pages hold |
//! | `POST /keys` | `{key?, name?, state}`; state `accepted`, `expired`, `read` or `write` |
//! | `DELETE /keys` | back to the keys of the start |
//! | `GET /jobs` | all jobs, oldest first, with project, prompt, messages, `origin` and `reads` |
//! | `GET /jobs/{id}` | one of them |
//! | `POST /jobs/{id}` | `{status?, prLink?, archivedAt?}`: forces fields until the next follow-up |
//! | `PUT /jobs/{id}` | `{projectId, createdAt}`: adds a job from before the start, or replaces one; milliseconds since the epoch |
//!
//! A `report` is named as the API's path ends: `views`, `visitors`, `feedback`,
//! `feedback/by-page`, `searches`, `assistant` or `assistant/caller-stats`. It is answered
//! as the API does, with all rows at once and without `hasMore` and `nextCursor`; `source`
//! and `status` filter as there. Without `projectId` it is of the first project.
//!
//! Of views and visitors, `{day, percent}` adds so many in a hundred of a usual working day
//! to that day of every page from then on, one at least: pages without views appear in its
//! rows. `{afterDays, percent}` leaves so many in a hundred out of each day, rounded up,
//! until so many whole days after its end; with 100 the day is empty until then. Rows and
//! totals of every range follow, those of the control routes too.
//!
//! A hole is in the lists of views, visitors, feedback and searches: the rows behind it
//! follow as many places later, so that none is lost, and a page that lies in it is empty and
//! says that more follows. Holes behind the last row do not count; they must not overlap.
//!
//! The keys of the start are named `key` and `read-key`; others have the name
//! that they are given. A setting without `key` changes the keys of that name.
//! A job's `origin` is what its creation carried: `key` (a name, never the key),
//! `userAgent`, `traceparent`, `idempotencyKey`. Its `reads` are `count` and
//! `at`, the moments of the last 500 requests for it.
//!
//! ## Faults
//!
//! `{operation?, target?, times?, after?, fault: {kind, …}}`. `operation` is one
//! of `agentJobs.create`, `agentJobs.get`, `agentJobs.sendMessage`, `analytics.views`
//! (or `pageViews.list`, its former name), `analytics.visitors`, `analytics.feedback`,
//! `analytics.feedbackByPage`, `analytics.searches`, `analytics.conversations`,
//! `analytics.conversation`, `analytics.callerStats`, `other`, and `target` a part of
//! the path and query as they were sent; without them every request matches. `times` is 1
//! by default, 0 means until cleared. `after` lets that many matching requests
//! pass first. Faults queue: a request meets the first one in the queue that
//! matches it, and the next one has its turn when that one is used up.
//!
//! | `kind` | other fields | what happens |
//! | --- | --- | --- |
//! | `status` | `status`, `body?`, `contentType?`, `headers?`, `process?` | that answer, by default an `{error}` |
//! | `json` | `status`, `body` | that JSON |
//! | `html` | `status` | an HTML error page |
//! | `empty` | `status` | no body |
//! | `redirect` | `status`, `location` | that redirect |
//! | `delay` | `ms` | waits, then answers as usual |
//! | `hold` | `process?`, `next?` | waits for `POST /release`, then goes on as usual, or with the fault `next` |
//! | `hang` | `process?` | never answers |
//! | `reset` | `process?` | TCP reset before any answer |
//! | `cutBody`* | `bytes?` | full `content-length`, half the body or so many bytes of it, end of connection |
//! | `cutChunked`* | `bytes?` | chunked, half the body or so many bytes of it, no last chunk |
//! | `malformedJson`* | | 200 with half the body, complete as HTTP |
//! | `emptyPage`* | | a list's page without its rows, yet it goes on: `hasMore` is true, `nextCursor` that of the next page |
//! | `repeatCursor`* | | `nextCursor` is the cursor that was asked with, on the first page that of the next; `hasMore` is true |
//! | `hasMoreFalse`* | | `hasMore` is false, though there is a `nextCursor` |
//! | `slowDrip`* | `chunkBytes`, `intervalMs` | the body in small pieces |
//!
//! The kinds with a star, `delay`, and those with `process: true` really process
//! the request; the others answer in its place, before any check. A `hold`
//! processes the request when it is released, or with `process: true` before.
//!
//! The three that change a page leave any other answer as it is, and so do `repeatCursor`
//! a list without cursors and `hasMoreFalse` one without `hasMore`. Behind the last row
//! they still give a cursor, which leads to an empty page; only a list of conversations
//! without any row has none, and stays as it is.
//!
//! A fault rate strikes the requests that no queued fault matches, each in one of
//! these ways with the same probability: `reset`, `503` and `502-page` (HTML) before
//! they are processed; `reset-after`, `500-after`, `504-after`, `cut-body`, `cut-head`
//! (no byte of the body), `cut-chunked` and `malformed` after; `empty-success`
//! without being processed. The same seed strikes the same requests of a sequence.

mod agent_job;
mod analytics;
mod auth;
mod body;
mod clock;
mod connection;
mod control;
mod conversations;
mod cursor;
mod data;
mod date;
mod fault;
mod feedback;
mod field;
mod held;
mod holes;
mod ledger;
mod limits;
mod operation;
mod options;
mod origin;
mod page_views;
mod parameters;
mod platform;
mod random;
mod random_faults;
mod reception;
mod refusal;
mod routes;
mod searches;
mod simulator;
mod ulid;
mod visitors;

pub use options::{AdminKey, Options};
pub use simulator::{Running, Simulator};
