//! The object of one project: its budgets, its idempotency keys, the ledger of its jobs and those
//! who watch them. One Durable Object per project, so that what it decides is exact.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use js_sys::Promise;
use quillgate::{Endpoint as _, GetAgentJob, JobId, JobStatus, Method, Millis, ProjectId};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{
    DurableObject, Env, Request, Response, State, WebSocket, WebSocketPair, durable_object,
};

use crate::budget::limits::Limits;
use crate::budget::store::{
    BUDGET_TABLES, BudgetStore, CEILING_COLUMN, Claimant, PROBE_TABLES, Slot,
};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::response::GatewayResponse;
use crate::http::trace::continue_trace;
use crate::jobs::events::{CHARGE_TEXT, END_TEXT, JobEvent, ListEvent};
use crate::jobs::health::{ProjectBudgets, ProjectHealth};
use crate::jobs::idempotency;
use crate::jobs::idempotency::Verdict;
use crate::jobs::idempotency_store::{Begun, IDEMPOTENCY_TABLES, IdempotencyStore};
use crate::jobs::job_store::{
    FORGOTTEN_DELETIONS, JOB_RECORDS, JOB_TABLES, JOB_UPKEEP, JobRow, JobStore, MISSING_JOBS,
};
use crate::jobs::ledger::decode_cursor;
use crate::jobs::log::format_lost_job;
use crate::jobs::outbox::{OUTBOX_TABLES, Outbox};
use crate::jobs::poll::{
    Audience, PollOutcome, Watcher, compute_pause, is_lost, is_past_creation, is_poll_due,
};
use crate::jobs::poll_budget::PollUsage;
use crate::jobs::poll_store::{POLL_TABLES, PollStore};
use crate::jobs::project_stub::{ListCall, PROBLEM_HEADER, WriteCall, WriteReply};
use crate::jobs::search::needs_alarm;
use crate::jobs::search_store::{BACKLOG_PAUSE, JOB_SEARCH};
use crate::jobs::settings::JobSettings;
use crate::jobs::watch::WatchCall;
use crate::jobs::webhook::JobEnd;
use crate::jobs::write::Write;
use crate::log::format_operator_line;
use crate::runtime::{
    Call, Database, HostError, HostResult, SharedTask, into_promise, log_error, make_response,
    migrate, new_uuid, now, random, read_policy, read_settings, receive, send_back, sockets,
};
use crate::upstream::breaker;
use crate::upstream::breakers::breaker_state;
use crate::upstream::client::{Exchange, JobSnapshot, UpstreamClient};
use crate::upstream::connections::{Connections, Permit};
use crate::upstream::failure::slot_outcome;
use crate::upstream::metrics::{ExchangeMetrics, RequestMetrics};
use crate::upstream::permits::Lane;
use crate::upstream::request::UpstreamRequest;
use crate::upstream::settings::UpstreamSettings;
use crate::upstream::settlement::Settlement;
use quillgate::Operation;
use quillgate::Policy;

const STEPS: [&str; 12] = [
    BUDGET_TABLES,
    IDEMPOTENCY_TABLES,
    JOB_TABLES,
    OUTBOX_TABLES,
    CEILING_COLUMN,
    PROBE_TABLES,
    JOB_UPKEEP,
    MISSING_JOBS,
    JOB_RECORDS,
    JOB_SEARCH,
    FORGOTTEN_DELETIONS,
    POLL_TABLES,
];
/// Number of steps after which prompts are stored in lower case, too.
const STEPS_WITH_FOLDED_PROMPTS: u64 = 9;
/// The most jobs that one list asks the upstream for.
const REFRESHED_AT_ONCE: usize = 8;
/// How often the alarm deletes records that have been kept long enough.
const SWEEP_PERIOD: u64 = 3_600_000;
/// The beginning of a socket's tag that says whose it is; the other tag is the job's id, which has no
/// slash, or [`LIST_TAG`].
const CALLER_TAG: char = '/';
/// The tag of the sockets of those who watch all jobs: no caller's, which go on with a hash.
const LIST_TAG: &str = "/jobs";
/// The time from charging a watcher to the poll. A watcher that cannot pay leaves in that time.
const CHARGE_TIME: Millis = Millis::from_seconds(1);
/// The `readyState` of a socket that takes messages.
const OPEN: u16 = 1;
/// The operations upstream that this object's breaker state is about.
const OPERATIONS: [Operation; 3] = [
    Operation::CreateAgentJob,
    Operation::SendMessage,
    Operation::GetAgentJob,
];

/// The object as the runtime has it.
#[durable_object(alarm)]
pub struct ProjectGate {
    /// Why there is none, when its records cannot be opened.
    gate: HostResult<Rc<Gate>>,
}

impl DurableObject for ProjectGate {
    fn new(state: State, env: Env) -> Self {
        Self {
            gate: Gate::open(state, &env).map(Rc::new),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        let url = request.inner().url();
        let call = WatchCall::from_url(&url);
        let call = call.ok_or_else(|| HostError::new("not an address of this object"))?;
        Ok(self.gate()?.watch(call).await?)
    }

    async fn alarm(&self) -> worker::Result<Response> {
        self.gate()?.on_alarm().await?;
        Response::empty()
    }
}

#[wasm_bindgen]
impl ProjectGate {
    /// Carries out a request that writes: a [`WriteCall`], answered by a [`WriteReply`].
    pub fn write(&self, call: JsValue) -> Result<Promise, JsValue> {
        let gate = self.gate()?;
        let writer = Rc::clone(&gate);
        let written = into_promise(async move { send_back(&writer.write(receive(call)?).await?) });
        // The caller may leave; what was begun is brought to its end.
        gate.state.as_raw().wait_until(&written)?;
        Ok(written)
    }

    /// Lists jobs: a [`ListCall`], answered by a [`GatewayResponse`].
    pub fn list(&self, call: JsValue) -> Result<Promise, JsValue> {
        let gate = self.gate()?;
        let reader = Rc::clone(&gate);
        let listed = into_promise(async move { send_back(&reader.list(receive(call)?).await?) });
        // A search whose caller has left still ends its turn.
        gate.state.as_raw().wait_until(&listed)?;
        Ok(listed)
    }

    /// Answers what is recorded of a job: a [`Call`], answered by a [`GatewayResponse`].
    #[wasm_bindgen(js_name = readRecord)]
    pub fn read_record(&self, call: JsValue, job: String) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.read_record(receive(call)?, &job).await?) })
    }

    /// Opens a policy that the upstream has closed.
    pub fn reopen(&self, policy: &str) -> Result<(), JsValue> {
        Ok(self.gate()?.budget.reopen(read_policy(policy)?)?)
    }

    /// Deletes what is recorded of a job, answered by a [`GatewayResponse`]; `id` is the request's.
    #[wasm_bindgen(js_name = deleteRecord)]
    pub fn delete_record(&self, id: String, job: String) -> Promise {
        let gate = self.gate();
        into_promise(async move { send_back(&gate?.delete_record(&id, &job).await?) })
    }

    /// What an operator is told: a [`ProjectHealth`].
    pub fn health(&self) -> Result<JsValue, JsValue> {
        Ok(send_back(&self.gate()?.health()?)?)
    }
}

#[cfg(feature = "trap-route")]
#[wasm_bindgen]
impl ProjectGate {
    /// Traps.
    #[expect(
        clippy::unused_self,
        reason = "a method of the class that the entry calls"
    )]
    pub fn trap(&self) -> Promise {
        crate::runtime::trap::trap_later()
    }
}

impl ProjectGate {
    fn gate(&self) -> HostResult<Rc<Gate>> {
        self.gate.clone()
    }
}

/// What is in memory of a job that is polled.
#[derive(Default)]
struct PollState {
    running: Option<RunningPoll>,
    /// How often the upstream has failed in a row to answer about it.
    failures: u32,
    /// When a watcher was charged for the next poll.
    charged_at: Option<Millis>,
}

/// A poll that is under way, so that many watchers share one.
struct RunningPoll {
    task: SharedTask<Exchange<JobSnapshot>>,
    /// Whether a follow-up was answered meanwhile: what the poll says is older than that.
    is_overtaken: Rc<Cell<bool>>,
}

/// What becomes of a request that writes.
enum Admission {
    /// It is carried out.
    Granted(Slot, Begun),
    /// The budget refuses it.
    Refused(Problem),
    /// Something is kept under its key.
    Repeated,
}

struct Gate {
    state: State,
    settings: JobSettings,
    upstream: UpstreamSettings,
    database: Rc<Database>,
    budget: BudgetStore,
    keys: IdempotencyStore,
    jobs: JobStore,
    poll_log: PollStore,
    outbox: Outbox,
    connections: Connections,
    /// The jobs that are being polled, or whose last poll failed.
    polls: RefCell<HashMap<String, PollState>>,
    /// When the alarm goes off, as far as this instance has set it.
    alarm: Cell<Option<Millis>>,
    /// The number of alarms since this instance started.
    alarms: Cell<u64>,
}

impl Gate {
    fn open(state: State, env: &Env) -> HostResult<Self> {
        let limits = read_settings(env, Limits::read)?;
        let upstream = read_settings(env, UpstreamSettings::read)?;
        let settings = read_settings(env, |variables| JobSettings::read(variables, &limits))?;
        let database = Rc::new(Database::new(state.storage()));
        let connections = Connections::default();
        let done = migrate(&database, &STEPS)?;
        let jobs = JobStore::open(Rc::clone(&database));
        if done < STEPS_WITH_FOLDED_PROMPTS {
            jobs.fold_lines()?;
        }
        Ok(Self {
            budget: BudgetStore::open(Rc::clone(&database), limits, upstream.timeout)?,
            keys: IdempotencyStore::open(Rc::clone(&database))?,
            jobs,
            poll_log: PollStore::open(Rc::clone(&database), settings.poll_budget),
            outbox: Outbox::open(
                Rc::clone(&database),
                settings.webhook.clone(),
                connections.clone(),
            ),
            connections,
            polls: RefCell::default(),
            alarm: Cell::new(None),
            alarms: Cell::new(0),
            state,
            settings,
            upstream,
            database,
        })
    }

    // --- writing -----------------------------------------------------------

    /// Carries out a request that writes, unless its key or the budget says otherwise.
    async fn write(&self, WriteCall { call, write }: WriteCall) -> HostResult<WriteReply> {
        self.jobs.remember_project(&call.project)?;
        // Most keys are new: what is kept under one is read only where there is something.
        let admission = match self.admit(&write, |keys| keys.begin_first(&write))? {
            Admission::Repeated => {
                if let Some(response) = self.find_repeated(&call, &write)? {
                    return Ok(WriteReply {
                        response,
                        metrics: RequestMetrics::default(),
                    });
                }
                self.admit(&write, |keys| keys.begin_again(&write))?
            }
            first => first,
        };
        let (slot, begun) = match admission {
            Admission::Granted(slot, begun) => (slot, begun),
            Admission::Refused(problem) => {
                return Ok(WriteReply {
                    response: GatewayResponse::problem(&problem, &call.id),
                    metrics: RequestMetrics {
                        budget_left: Some(0),
                        ..RequestMetrics::default()
                    },
                });
            }
            Admission::Repeated => {
                return Err(HostError::new("an idempotency key that cannot be replaced"));
            }
        };
        let budget_left = Some(slot.left);
        let carried_out = self.carry_out(&call, &write, &begun, slot);
        let (response, upstream) = carried_out.await?;
        Ok(WriteReply {
            response,
            metrics: RequestMetrics {
                upstream: Some(upstream),
                budget_left,
                ..RequestMetrics::default()
            },
        })
    }

    /// The answer that the idempotency key leads to; `None` when there is work to do.
    fn find_repeated(&self, call: &Call, write: &Write) -> HostResult<Option<GatewayResponse>> {
        let Some(key) = &write.key else {
            return Ok(None);
        };
        let Some(row) = self.keys.find(&write.caller, key)? else {
            return Ok(None);
        };
        let record = row.record();
        let verdict = idempotency::decide(Some(&record), &write.fingerprint, write.retry, now());
        Ok(match verdict {
            Verdict::Fresh | Verdict::Again => None,
            Verdict::Replay => Some(row.response().ok_or_else(|| {
                HostError::new("what is stored under an idempotency key cannot be read")
            })?),
            Verdict::Refused(problem) => Some(GatewayResponse::problem(&problem, &call.id)),
        })
    }

    /// Takes a slot of the budget and writes down that the request is carried out.
    fn admit(
        &self,
        write: &Write,
        write_down: impl Fn(&IdempotencyStore) -> HostResult<Option<Begun>>,
    ) -> HostResult<Admission> {
        let claimant = Claimant {
            policy: write.policy,
            caller: write.caller.clone(),
            quota: write.quota,
            ceilings: write.ceilings.clone(),
        };
        let mut reserved = None;
        let admitted = self.database.transaction(|| {
            let Some(begun) = write_down(&self.keys)? else {
                return Ok(Admission::Repeated);
            };
            Ok(match self.budget.reserve(&claimant)? {
                Ok(slot) => {
                    reserved = Some(slot.id);
                    Admission::Granted(slot, begun)
                }
                Err(refused) => {
                    self.keys.forget(&begun)?;
                    Admission::Refused(refused.problem)
                }
            })
        });
        if let (Err(_), Some(id)) = (&admitted, reserved) {
            self.budget.forget(id);
        }
        admitted
    }

    async fn carry_out(
        &self,
        call: &Call,
        write: &Write,
        begun: &Begun,
        slot: Slot,
    ) -> HostResult<(GatewayResponse, ExchangeMetrics)> {
        let request = UpstreamRequest {
            method: Method::Post,
            target: write.target.clone(),
            body: Some(write.body.clone()),
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let permit = self.acquire(Lane::Write).await;
        let permit = permit.and_then(|permit| {
            if permit.has_waited {
                let postponed = self.budget.postpone(slot.id);
                postponed.map_err(|_| Problem::gate_unavailable())?;
            }
            Ok(permit)
        });
        let Exchange { metrics, outcome } = self.exchange(permit, &request).await;
        let (response, settlement) = match &outcome {
            Ok(reply) => (
                GatewayResponse::json(reply.http_status, reply.text.as_str()),
                Settlement::Store,
            ),
            Err(failure) => (
                GatewayResponse::problem(&failure.problem, &call.id),
                failure.settlement,
            ),
        };
        let settle = || {
            self.budget.conclude(&slot, slot_outcome(&outcome))?;
            self.keys.end(begun, settlement, &response)
        };
        // What the ledger says of a creation is kept with it, unless the ledger fails.
        let created = outcome.as_ref().ok().and_then(|reply| {
            let id = reply.id.as_deref().filter(|_| write.job.is_none())?;
            Some(self.database.transaction(|| {
                let event = self.add_job(id, write, reply)?;
                settle()?;
                Ok((id, event))
            }))
        });
        if !matches!(created, Some(Ok(_)))
            && let Err(error) = self.database.transaction(settle)
        {
            // Nobody can say any more what is kept: the key must not stay in use, nor be free.
            self.keys.end(begun, Settlement::Unknown, &response)?;
            return Err(error);
        }
        let recorded = match (created, &outcome) {
            (Some(Ok((id, event))), _) => self.announce_job(id, write, event).await,
            (Some(Err(error)), _) => Err(error),
            (None, Ok(reply)) => self.record_message(write, reply).await,
            (None, Err(_)) => Ok(()),
        };
        if let Err(error) = recorded {
            // The answer is the upstream's, and known: it is given all the same.
            log_error(&format_operator_line(&format!(
                "the ledger failed: {error}"
            )));
        }
        let headers = response.headers.or(slot.fields.into_headers());
        Ok((
            GatewayResponse {
                headers,
                ..response
            },
            metrics,
        ))
    }

    async fn acquire(&self, lane: Lane) -> Result<Permit, Problem> {
        let time = self.upstream.timeout;
        self.connections.acquire(lane, time).await
    }

    /// Sends a request about a job while the permit is held.
    async fn exchange(
        &self,
        permit: Result<Permit, Problem>,
        request: &UpstreamRequest,
    ) -> Exchange<JobSnapshot> {
        match permit {
            Ok(_held) => {
                let client = UpstreamClient::new(&self.upstream);
                client.take_snapshot(request).await
            }
            Err(problem) => Exchange::not_sent(problem),
        }
    }

    /// Writes down a job that was created, in the caller's transaction.
    fn add_job(
        &self,
        id: &str,
        write: &Write,
        reply: &JobSnapshot,
    ) -> HostResult<Option<ListEvent>> {
        if JobId::new(id).is_err() {
            return Err(HostError::new("a job whose id cannot be part of a path"));
        }
        let event = self.jobs.add(id, write, reply)?;
        if write.webhook.is_some() {
            // It may have ended in this very answer, and nothing changes after that.
            self.announce_end(id)?;
        }
        Ok(event)
    }

    /// Tells of a job that was written down, and sees to it later.
    async fn announce_job(
        &self,
        id: &str,
        write: &Write,
        event: Option<ListEvent>,
    ) -> HostResult<()> {
        let is_watched = self.broadcast_list(event.as_slice()) > 0;
        if write.webhook.is_some() {
            self.plan_webhook_poll(id)?;
        } else if self.alarm.get().is_some() && !is_watched {
            // Nobody else can wait for a job that is just created, and any alarm sees to what has been
            // kept long enough.
            return Ok(());
        }
        self.schedule().await
    }

    /// A job was set to work again by a follow-up.
    async fn record_message(&self, write: &Write, reply: &JobSnapshot) -> HostResult<()> {
        let Some(id) = &write.job else {
            return Ok(());
        };
        self.overtake_poll(id);
        self.record(id, reply, Some(write))?;
        self.jobs.mark_begun(id)?;
        self.plan_webhook_poll(id)?;
        self.schedule().await
    }

    // --- the ledger --------------------------------------------------------

    /// Lists a page of jobs, newest first. Unfinished jobs are polled before, the stalest first.
    async fn list(self: Rc<Self>, list: ListCall) -> HostResult<GatewayResponse> {
        let ListCall {
            call,
            filter,
            limit,
            cursor,
        } = list;
        let before = match cursor.as_deref().map(decode_cursor).transpose() {
            Ok(before) => before,
            Err(problem) => return Ok(GatewayResponse::problem(&problem, &call.id)),
        };
        let page = self.jobs.page(&filter, limit, before).await?;
        self.refresh(&call, page.rows.clone()).await?;
        if filter.text.is_some() && needs_alarm(self.next_indexing()?, self.alarm.get()) {
            self.schedule().await?;
        }
        let listing = self.jobs.list(&filter, &page)?;
        Ok(GatewayResponse::json(200, listing))
    }

    /// What is recorded of a job, which is as it is now.
    async fn read_record(self: Rc<Self>, call: Call, job: &str) -> HostResult<GatewayResponse> {
        let rows = self.jobs.find_listed(job)?.into_iter().collect();
        self.refresh(&call, rows).await?;
        Ok(match self.jobs.read_record(job)? {
            Some(record) => GatewayResponse::json(200, record),
            None => GatewayResponse::problem(&Problem::job_not_recorded(), &call.id),
        })
    }

    /// Asks the upstream for those jobs that have not ended, the stalest, and waits for its answers.
    async fn refresh(self: &Rc<Self>, call: &Call, rows: Vec<JobRow>) -> HostResult<()> {
        let now = now();
        let mut stale: Vec<_> = rows
            .into_iter()
            .filter(|row| !row.is_finished() && now >= self.next_poll(row, Audience::Watchers))
            .collect();
        let usage = self.poll_log.usage(now)?;
        let room = self.poll_log.budget().count_immediate(&usage, now) as usize;
        let mut polls = Vec::new();
        while polls.len() < REFRESHED_AT_ONCE.min(room)
            && let Some(at) = find_stalest(&stale)
        {
            if let Some(id) = stale.swap_remove(at).job_id() {
                polls.push(self.poll(call, &id)?);
            }
        }
        if !polls.is_empty() {
            for poll in polls {
                poll.wait().await?;
            }
            self.schedule().await?;
        }
        Ok(())
    }

    /// When a job is polled next, if somebody asks.
    fn next_poll(&self, row: &JobRow, audience: Audience) -> Millis {
        let polls = self.polls.borrow();
        let failures = polls.get(&row.id).map_or(0, |poll| poll.failures);
        let checked = row.checked_at();
        let age = checked.since(row.began());
        let pause = compute_pause(self.settings.poll_interval, audience, age, failures);
        checked.plus(pause).max(row.not_before())
    }

    /// Returns when the alarm next handles a watched job: it polls the job, not before `earliest`, or
    /// gives it up.
    fn next_visit(&self, row: &JobRow, earliest: Option<Millis>) -> Millis {
        let next = self.next_poll(row, Audience::Watchers);
        let next = earliest.map_or(next, |earliest| next.max(earliest));
        if row.is_finished() {
            return next;
        }
        next.min(self.find_poll_end(row))
    }

    /// Returns when a job is given up.
    fn find_poll_end(&self, row: &JobRow) -> Millis {
        row.began().plus(self.settings.poll_duration)
    }

    /// Decides when a job is polled for its webhook, now that it was asked for.
    fn plan_webhook_poll(&self, job: &str) -> HostResult<()> {
        let Some(row) = self.jobs.find(job)? else {
            return Ok(());
        };
        if row.webhook.is_none() {
            return Ok(());
        }
        let is_open = !row.is_settled(self.settings.poll_duration, now());
        let next = is_open.then(|| {
            let next = self.next_poll(&row, Audience::Webhook);
            next.min(self.find_poll_end(&row))
        });
        self.jobs.set_webhook_poll(job, next)
    }

    /// Polls a job no longer that has not ended in time: its watchers and its webhook are told, and
    /// the operator.
    fn give_up(&self, row: &JobRow) -> HostResult<()> {
        self.database.transaction(|| {
            if let (Some(url), Some(data)) = (&row.webhook, &row.data) {
                self.outbox.add(url, JobEnd::Unfinished, data)?;
            }
            self.jobs.set_webhook_poll(&row.id, None)
        })?;
        self.polls.borrow_mut().remove(&row.id);
        let seconds = self.settings.poll_duration.0 / 1000;
        log_error(&format_operator_line(&format!(
            "job {} has not ended within {seconds} s and is no longer polled",
            row.id
        )));
        for socket in self.find_watchers(&row.id) {
            sockets::send(&socket, END_TEXT);
            sockets::close(&socket, "given up");
        }
        Ok(())
    }

    /// Deletes what is recorded of a job. Whoever watches it has to come back.
    async fn delete_record(&self, id: &str, job: &str) -> HostResult<GatewayResponse> {
        if self.jobs.find(job)?.is_none() {
            let problem = Problem::job_not_recorded();
            return Ok(GatewayResponse::problem(&problem, id));
        }
        let event = self.database.transaction(|| {
            self.outbox.forget_job(job)?;
            self.keys.forget_job(job)?;
            self.jobs.delete(job)
        })?;
        // The response to a poll in flight is not recorded.
        self.overtake_poll(job);
        self.forget_failures(job);
        for socket in self.find_watchers(job) {
            sockets::close(&socket, "gone");
        }
        self.broadcast_list(event.as_slice());
        self.schedule().await?;
        Ok(GatewayResponse::empty(204))
    }

    /// Forgets the failed polls of a deleted job. A poll in flight removes its own entry.
    fn forget_failures(&self, job: &str) {
        let mut polls = self.polls.borrow_mut();
        if polls.get(job).is_some_and(|poll| poll.running.is_none()) {
            polls.remove(job);
        }
    }

    /// Makes what a poll under way says older than what is recorded.
    fn overtake_poll(&self, job: &str) {
        if let Some(poll) = self.running_poll(job, |poll| Rc::clone(&poll.is_overtaken)) {
            poll.set(true);
        }
    }

    /// Asks the upstream for a job; whoever asks meanwhile gets the same answer.
    fn poll(
        self: &Rc<Self>,
        call: &Call,
        job: &JobId,
    ) -> HostResult<SharedTask<Exchange<JobSnapshot>>> {
        let name = job.as_str().to_owned();
        if let Some(task) = self.running_poll(&name, |poll| poll.task.clone()) {
            return Ok(task);
        }
        let project = ProjectId::new(&*call.project);
        let project = project.map_err(|error| HostError::new(error.message()))?;
        if self.is_listed(&name)? {
            self.poll_log.count(now())?;
        }
        let request = UpstreamRequest {
            method: Method::Get,
            target: GetAgentJob::new(job.clone()).request(&project).target,
            body: None,
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let is_overtaken = Rc::new(Cell::new(false));
        let (gate, overtaken) = (Rc::clone(self), Rc::clone(&is_overtaken));
        let polled = name.clone();
        let task = SharedTask::spawn(&self.state, async move {
            let permit = gate.acquire(Lane::ReadJob).await;
            let exchange = gate.exchange(permit, &request).await;
            let outcome = match (&exchange.outcome, overtaken.get()) {
                (Err(_), _) => PollOutcome::Failed,
                (Ok(_), true) => PollOutcome::Overtaken,
                (Ok(_), false) => PollOutcome::Answered,
            };
            gate.end_poll(&polled, outcome);
            if let Err(error) = gate.on_polled(&polled, &exchange, outcome) {
                log_error(&format_operator_line(&format!(
                    "the ledger failed: {error}"
                )));
            }
            exchange
        })?;
        let mut polls = self.polls.borrow_mut();
        polls.entry(name).or_default().running = Some(RunningPoll {
            task: task.clone(),
            is_overtaken,
        });
        Ok(task)
    }

    /// Whether a job was created through the gateway, so that its polls draw on the poll budget.
    fn is_listed(&self, job: &str) -> HostResult<bool> {
        Ok(self.jobs.find(job)?.is_some_and(|row| row.is_listed()))
    }

    fn running_poll<T>(&self, job: &str, read: impl FnOnce(&RunningPoll) -> T) -> Option<T> {
        let polls = self.polls.borrow();
        polls.get(job)?.running.as_ref().map(read)
    }

    fn end_poll(&self, job: &str, outcome: PollOutcome) {
        let mut polls = self.polls.borrow_mut();
        if outcome != PollOutcome::Failed {
            polls.remove(job);
        } else if let Some(poll) = polls.get_mut(job) {
            poll.running = None;
            poll.failures = poll.failures.saturating_add(1);
        }
    }

    fn on_polled(
        &self,
        job: &str,
        exchange: &Exchange<JobSnapshot>,
        outcome: PollOutcome,
    ) -> HostResult<()> {
        match &exchange.outcome {
            // Older than what a follow-up has answered meanwhile: the next poll shows.
            Ok(_) if outcome == PollOutcome::Overtaken => self.jobs.mark_found(job)?,
            Ok(reply) => self.record(job, reply, None)?,
            Err(failure) => {
                if self.jobs.find(job)?.is_none() {
                    // Nobody waits for a job that is not known.
                    self.polls.borrow_mut().remove(job);
                }
                let wait = failure.retry_after();
                let wait = wait.map(|wait| wait.min(self.settings.poll_duration));
                let not_before = wait.map_or(Millis(0), |wait| now().plus(wait));
                self.jobs.mark_checked(job, not_before)?;
                if exchange.metrics.status == Some(429) {
                    self.poll_log.pause(failure.retry_after(), now())?;
                }
                if exchange.metrics.status == Some(404) {
                    self.on_missing(job)?;
                }
            }
        }
        self.plan_webhook_poll(job)
    }

    /// The upstream does not know a job. Shortly after its creation it may just not know it yet.
    fn on_missing(&self, job: &str) -> HostResult<()> {
        let Some(row) = self.jobs.find(job)? else {
            return Ok(());
        };
        let now = now();
        match row.missing_since() {
            None => self.jobs.mark_missing(job, now)?,
            Some(since) if is_lost(since, now) => self.announce_missing(&row)?,
            Some(_) => {}
        }
        if !is_past_creation(row.created(), now) {
            return Ok(());
        }
        // Watchers that reconnect get a 404.
        for socket in self.find_watchers(job) {
            sockets::close(&socket, "gone");
        }
        Ok(())
    }

    /// Waits no longer for the end of a job that the upstream does not know, and tells its webhook so.
    fn announce_missing(&self, row: &JobRow) -> HostResult<()> {
        let (Some(url), Some(data)) = (&row.webhook, &row.data) else {
            return Ok(());
        };
        log_error(&format_lost_job(&row.id));
        self.database.transaction(|| {
            self.outbox.add(url, JobEnd::NotFound, data)?;
            self.jobs.forget_webhook(&row.id)
        })
    }

    /// Queues the webhook of a job, if it has one and has ended.
    fn announce_end(&self, id: &str) -> HostResult<()> {
        if let Some(row) = self.jobs.find(id)?
            && let (Some(url), Some(status), Some(data)) = (row.webhook, row.status, row.data)
            && let Some(end) = JobEnd::of(&JobStatus::from(status))
        {
            self.outbox.add(&url, end, &data)?;
        }
        Ok(())
    }

    /// Writes down how a job is, and the follow-up that it was sent; what has changed is sent to those
    /// who watch.
    fn record(&self, id: &str, reply: &JobSnapshot, message: Option<&Write>) -> HostResult<()> {
        let (event, in_list) = self.database.transaction(|| {
            if let Some(write) = message {
                self.jobs.add_message(id, write)?;
            }
            let event = self.jobs.record(id, reply)?;
            if event.is_some() {
                self.announce_end(id)?;
            } else if message.is_none() {
                return Ok((None, None));
            }
            Ok((event, self.jobs.revise(id)?))
        })?;
        if let Some(event) = event {
            self.broadcast(id, &event);
        }
        self.broadcast_list(in_list.as_slice());
        Ok(())
    }

    /// Sends changes of the list to the watchers of all jobs. Returns the number of watchers.
    fn broadcast_list(&self, events: &[ListEvent]) -> usize {
        let watchers = self.find_watchers(LIST_TAG);
        for event in events {
            let text = event.to_text();
            for socket in &watchers {
                sockets::send(socket, &text);
            }
        }
        watchers.len()
    }

    /// Sends a change of a job to its watchers, and closes their sockets after the last change.
    fn broadcast(&self, job: &str, event: &JobEvent) {
        let text = event.to_text();
        for socket in self.find_watchers(job) {
            sockets::send(&socket, &text);
            if event.is_final() {
                sockets::close(&socket, "finished");
            }
        }
    }

    // --- watching ----------------------------------------------------------

    /// The open sockets of a job, the list or a caller, by their tag. One that is just being closed
    /// takes nothing any more: whoever comes back gets what they have missed.
    fn find_watchers(&self, tag: &str) -> Vec<WebSocket> {
        let mut sockets = self.state.get_websockets_with_tag(tag);
        sockets.retain(is_open);
        sockets
    }

    /// Refuses one more stream than a caller, a job or the list may have.
    fn check_streams(&self, caller_tag: &str, watched: &str) -> Result<(), Problem> {
        let settings = &self.settings;
        let owner = match watched {
            LIST_TAG => "the project",
            _ => "the job",
        };
        for (tag, most, owner) in [
            (caller_tag, settings.streams_per_caller, "the caller"),
            (watched, settings.streams_per_job, owner),
        ] {
            if self.find_watchers(tag).len() >= most as usize {
                return Err(Problem::too_many_streams(owner, most));
            }
        }
        Ok(())
    }

    /// Opens a WebSocket on which changes are sent, or answers why not.
    async fn watch(self: Rc<Self>, watch: WatchCall) -> HostResult<Response> {
        self.jobs.remember_project(&watch.project)?;
        let mut caller_tag = watch.caller.clone();
        caller_tag.insert(0, CALLER_TAG);
        let tag = watch.job.as_deref().unwrap_or(LIST_TAG);
        let too_many = |problem| refuse(GatewayResponse::problem(&problem, &watch.id));
        if let Err(problem) = self.check_streams(&caller_tag, tag) {
            return Ok(too_many(problem));
        }
        let Some(job) = &watch.job else {
            let WebSocketPair { client, server } = self.open_socket(tag, &caller_tag)?;
            for event in self.jobs.list_events(watch.after)? {
                sockets::send(&server, &event.to_text());
            }
            self.schedule().await?;
            return Ok(Response::from_websocket(client)?);
        };
        if let Some(refusal) = self.bring_up_to_date(&watch, job).await? {
            self.schedule().await?;
            return Ok(refuse(refusal));
        }
        // Others may have come meanwhile.
        if let Err(problem) = self.check_streams(&caller_tag, tag) {
            return Ok(too_many(problem));
        }
        let events = self.jobs.events(job, watch.after)?;
        let row = self.jobs.find(job)?;
        let limit = self.settings.poll_duration;
        let is_settled = row.as_ref().is_some_and(|row| row.is_settled(limit, now()));
        if is_settled && events.is_empty() {
            return Ok(refuse(GatewayResponse::empty(204)));
        }
        let WebSocketPair { client, server } = self.open_socket(tag, &caller_tag)?;
        for event in events {
            sockets::send(&server, &event.to_text());
        }
        if is_settled {
            if row.is_some_and(|row| !row.is_finished()) {
                sockets::send(&server, END_TEXT);
            }
            sockets::close(&server, "finished");
        }
        self.schedule().await?;
        Ok(Response::from_websocket(client)?)
    }

    /// Opens a WebSocket with these tags, which outlives this instance.
    fn open_socket(&self, tag: &str, caller_tag: &str) -> HostResult<WebSocketPair> {
        let pair = WebSocketPair::new()?;
        // The crate's own wrapper panics at a tag that is too long.
        let tags = vec![JsValue::from_str(tag), JsValue::from_str(caller_tag)];
        let raw = self.state.as_raw();
        raw.accept_websocket_with_tags(pair.server.as_ref(), tags)?;
        Ok(pair)
    }

    /// Polls a job whose state is not known as of this interval; gives the answer that says why
    /// nothing is known of it.
    async fn bring_up_to_date(
        self: &Rc<Self>,
        watch: &WatchCall,
        job: &str,
    ) -> HostResult<Option<GatewayResponse>> {
        let now = now();
        let row = self.jobs.find(job)?;
        let is_listed = row.as_ref().is_some_and(JobRow::is_listed);
        let known = row.map(|row| row.state(self.settings.poll_duration, now));
        let watcher = watch.after.map_or(Watcher::New, |_| Watcher::Resuming);
        if !is_poll_due(known, watcher, self.settings.poll_interval, now) {
            return Ok(None);
        }
        let is_seen = known.is_some_and(|known| known.is_seen);
        if is_seen && !self.has_room(is_listed, now)? {
            return Ok(None);
        }
        let call = Call {
            id: watch.id.clone(),
            project: watch.project.clone(),
            traceparent: watch.traceparent.clone(),
            tracestate: watch.tracestate.clone(),
        };
        let job = JobId::new(job);
        let job = job.map_err(|error| HostError::new(error.message()))?;
        let exchange = self.poll(&call, &job)?.wait().await?;
        Ok(match exchange.outcome {
            Ok(_) => None,
            // What is known of a job is still good when the upstream fails for a moment.
            Err(failure) if is_seen && (failure.is_fault || failure.closed_for.is_some()) => None,
            Err(failure) => Some(GatewayResponse::problem(&failure.problem, &watch.id)),
        })
    }

    /// Polls the jobs that somebody waits for, sends the webhooks that are due, and deletes what has
    /// been kept long enough.
    async fn on_alarm(self: Rc<Self>) -> HostResult<()> {
        self.alarm.set(None);
        self.alarms.set(self.alarms.get() + 1);
        let now = now();
        if let Some(call) = self.own_call()? {
            for row in self.take_due(now)? {
                if self.is_given_up(&row, now) {
                    self.give_up(&row)?;
                } else if !row.is_listed() && !self.take_charge(&row.id, now) {
                    self.charge_watcher(&row.id, now);
                } else if let Some(job) = row.job_id() {
                    self.begin_poll(&call, &job)?;
                }
            }
            for row in self.outbox.take_due()? {
                let project = call.project.clone();
                self.spawn(|gate| async move {
                    gate.outbox.deliver(row, &project).await?;
                    gate.schedule().await
                })?;
            }
        }
        self.jobs.index_backlog()?;
        let swept = self.jobs.sweep(now.since(self.settings.retention))?;
        for job in &swept.jobs {
            self.forget_failures(job);
        }
        self.broadcast_list(&swept.events);
        self.schedule().await
    }

    /// Makes a call that no request caused, with a new trace.
    fn own_call(&self) -> HostResult<Option<Call>> {
        let id = new_uuid();
        let trace = continue_trace(None, &id.replace('-', ""));
        Ok(self.jobs.project()?.map(|project| Call {
            id,
            project: project.to_owned(),
            traceparent: trace.traceparent,
            tracestate: None,
        }))
    }

    /// Polls a job in the background, then schedules the next alarm.
    fn begin_poll(self: &Rc<Self>, call: &Call, job: &JobId) -> HostResult<()> {
        let poll = self.poll(call, job)?;
        self.spawn(|gate| async move {
            poll.wait().await?;
            gate.schedule().await
        })
    }

    /// Whether the job has not finished in time, so that polling ends.
    fn is_given_up(&self, row: &JobRow, now: Millis) -> bool {
        row.is_settled(self.settings.poll_duration, now) && !row.is_finished()
    }

    /// Whether a new watcher may cause a poll now. A poll of a job that the gateway did not create
    /// counts as the watcher's read, and only a 429 delays it.
    fn has_room(&self, is_listed: bool, now: Millis) -> HostResult<bool> {
        let usage = self.poll_log.usage(now)?;
        Ok(if is_listed {
            self.poll_log.budget().count_immediate(&usage, now) > 0
        } else {
            !usage.is_paused(now)
        })
    }

    /// Charges a watcher for the next poll of a job that the gateway did not create. The Worker counts
    /// it as a read of the watcher's caller, and closes the socket when the reads are used up.
    fn charge_watcher(&self, job: &str, now: Millis) {
        let mut watchers = self.find_watchers(job);
        if watchers.is_empty() {
            return;
        }
        let watcher = watchers.swap_remove(pick_index(watchers.len()));
        sockets::send(&watcher, CHARGE_TEXT);
        let mut polls = self.polls.borrow_mut();
        polls.entry(job.to_owned()).or_default().charged_at = Some(now);
    }

    /// Uses the charge for a poll. Returns whether a watcher was charged and has had time to leave.
    fn take_charge(&self, job: &str, now: Millis) -> bool {
        let is_over = |charged_at: &mut Millis| charged_at.plus(CHARGE_TIME) <= now;
        let mut polls = self.polls.borrow_mut();
        let charge = polls.get_mut(job).map(|poll| &mut poll.charged_at);
        charge.is_some_and(|charge| charge.take_if(is_over).is_some())
    }

    /// Returns when the poll that a watcher was charged for is due.
    fn find_charge_end(&self, job: &str) -> Option<Millis> {
        let polls = self.polls.borrow();
        Some(polls.get(job)?.charged_at?.plus(CHARGE_TIME))
    }

    /// Begins something that takes its time, so that it does not hold up the rest: the next alarm
    /// waits for this one.
    fn spawn<F>(self: &Rc<Self>, work: impl FnOnce(Rc<Self>) -> F) -> HostResult<()>
    where
        F: Future<Output = HostResult<()>> + 'static,
    {
        let work = work(Rc::clone(self));
        SharedTask::spawn(&self.state, async move {
            if let Err(error) = work.await {
                log_error(&format_operator_line(&error.to_string()));
            }
        })?;
        Ok(())
    }

    /// Takes the jobs that are due, as many as the poll budget allows. The job that was polled longest
    /// ago comes first.
    fn take_due(&self, now: Millis) -> HostResult<Vec<JobRow>> {
        let usage = self.poll_log.usage(now)?;
        let mut room = self.poll_log.budget().count_allowed(&usage, now);
        let watched = self.watched(&usage)?.into_iter();
        let watched = watched.filter(|(_, at)| *at <= now).map(|(row, _)| row);
        let mut due: Vec<_> = self.jobs.due(now)?;
        let awaited: Vec<_> = due.iter().map(|row| row.id.clone()).collect();
        due.extend(watched.filter(|row| !awaited.contains(&row.id)));
        due.sort_by_key(JobRow::checked_at);
        // An object that ends before the poll does polls again after the lease.
        let lease = now.plus(self.upstream.timeout);
        let mut taken = Vec::new();
        for row in due {
            if row.is_listed() && !self.is_given_up(&row, now) {
                if room == 0 {
                    continue;
                }
                room -= 1;
            }
            if awaited.contains(&row.id) {
                self.jobs.set_webhook_poll(&row.id, Some(lease))?;
            }
            taken.push(row);
        }
        Ok(taken)
    }

    /// Every job that somebody watches, by itself or with the list, and when the alarm sees to it.
    fn watched(&self, usage: &PollUsage) -> HostResult<Vec<(JobRow, Millis)>> {
        let mut jobs: Vec<String> = Vec::new();
        let mut is_list_watched = false;
        for socket in self.state.get_websockets() {
            if !is_open(&socket) {
                continue;
            }
            for tag in self.state.get_tags(&socket) {
                if tag == LIST_TAG {
                    is_list_watched = true;
                } else if !tag.starts_with(CALLER_TAG)
                    && let Err(at) = jobs.binary_search(&tag)
                {
                    jobs.insert(at, tag);
                }
            }
        }
        let now = now();
        let mut rows = Vec::new();
        if is_list_watched {
            rows = self
                .jobs
                .unfinished(now.since(self.settings.poll_duration))?;
            rows.retain(|row| jobs.binary_search(&row.id).is_err());
        }
        if !jobs.is_empty() {
            rows.extend(self.jobs.find_all(&jobs)?);
        }
        let end = now.plus(self.upstream.timeout);
        let pace = self.poll_log.budget().find_next(usage);
        let mut watched = Vec::with_capacity(rows.len());
        for row in rows {
            let earliest = if row.is_listed() {
                pace
            } else {
                usage.paused_until.max(self.find_charge_end(&row.id))
            };
            // A poll under way schedules when it ends; this is for an object that ends before.
            let at = match self.running_poll(&row.id, |_| ()) {
                Some(()) => end,
                None => self.next_visit(&row, earliest),
            };
            watched.push((row, at));
        }
        Ok(watched)
    }

    /// Sets the alarm for what comes next; without anything kept it is not set again.
    async fn schedule(&self) -> HostResult<()> {
        let usage = self.poll_log.usage(now())?;
        let pace = self.poll_log.budget().find_next(&usage);
        let polls = self.watched(&usage)?.into_iter().map(|(_, at)| at);
        let others = [
            self.jobs
                .next_due()?
                .map(|due| pace.map_or(due, |pace| due.max(pace))),
            self.outbox.next_due()?,
            self.next_sweep()?,
            self.jobs.next_deletion_expiry()?.map(round_up),
            self.next_indexing()?,
        ];
        let Some(next) = polls.chain(others.into_iter().flatten()).min() else {
            return Ok(());
        };
        let now = now();
        let next = next.max(now.plus(Millis(1)));
        if self.alarm.get() == Some(next) && next > now {
            return Ok(());
        }
        self.alarm.set(Some(next));
        let set = self.state.storage().set_alarm(at(next)).await;
        if set.is_err() {
            self.alarm.set(None);
        }
        Ok(set?)
    }

    /// When a record has been kept for long enough, to the hour: many are deleted together.
    fn next_sweep(&self) -> HostResult<Option<Millis>> {
        let oldest = self.jobs.oldest()?;
        Ok(oldest.map(|began| round_up(began.plus(self.settings.retention))))
    }

    /// When the next jobs of earlier releases are added to the search index.
    fn next_indexing(&self) -> HostResult<Option<Millis>> {
        let is_open = self.jobs.has_backlog()?;
        Ok(is_open.then(|| now().plus(BACKLOG_PAUSE)))
    }

    // --- health ------------------------------------------------------------

    /// What an operator is told.
    fn health(&self) -> HostResult<ProjectHealth> {
        let project = self.jobs.project()?;
        let breaker = match &project {
            Some(project) => breaker_state(&OPERATIONS, Some(project), now()),
            // Nothing was ever asked for it.
            None => breaker::State::Closed,
        };
        Ok(ProjectHealth {
            breaker,
            budgets: ProjectBudgets {
                create_job: self.budget.health(Policy::CreateJob),
                send_message: self.budget.health(Policy::SendMessage),
            },
            watchers: self.state.get_websockets().len() as u64,
            webhooks_waiting: self.outbox.waiting()?,
            alarms: self.alarms.get(),
        })
    }
}

/// Whether a socket takes messages.
fn is_open(socket: &WebSocket) -> bool {
    socket.as_ref().ready_state() == OPEN
}

/// Picks one of `count` watchers, so that each pays for its share of the polls.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number of sockets"
)]
fn pick_index(count: usize) -> usize {
    (random() * count as f64) as usize
}

/// The next instant at which the alarm deletes what has been kept long enough.
const fn round_up(end: Millis) -> Millis {
    Millis(end.0.div_ceil(SWEEP_PERIOD) * SWEEP_PERIOD)
}

/// Finds the job that was not asked for the longest.
fn find_stalest(rows: &[JobRow]) -> Option<usize> {
    let ages = rows.iter().map(JobRow::checked_at);
    let (at, _) = ages.enumerate().min_by_key(|(_, checked)| *checked)?;
    Some(at)
}

/// A whole answer in the place of a WebSocket.
fn refuse(response: GatewayResponse) -> Response {
    let kind = response.problem.map(ProblemKind::as_str);
    let mut headers = response.headers;
    if let Some(kind) = kind {
        headers.set(PROBLEM_HEADER, kind);
    }
    let body = response
        .body
        .as_deref()
        .map_or(JsValue::NULL, JsValue::from_str);
    make_response(response.status, &headers, &body).into()
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn at(instant: Millis) -> worker::ScheduledTime {
    worker::ScheduledTime::new(js_sys::Date::new(&(instant.0 as f64).into()))
}
