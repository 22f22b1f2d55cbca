//! The runs of the daily archive. A run sends the requests that [`plan`] chooses, one at a time,
//! until nothing is left, a limit is reached, or a failure would affect every request.

use std::ops::ControlFlow;

use js_sys::Reflect;
use quillgate::pages::Totals;
use quillgate::{
    DateRange, Endpoint as _, ListPageViews, ListVisitors, Millis, Offset, Operation, PageSize,
    ProjectId, RateLimitPolicy, ValidationError,
};
use serde_json::json;

use crate::analytics::archive::schedule::{DayRecord, Part, ProjectRecord, RunId, Target, plan};
use crate::analytics::archive::store::{ArchiveStore, DayKey, MAX_CONVERTED, remove_odd_counts};
use crate::analytics::archive::{ArchiveRun, first_retained};
use crate::analytics::organization_object::Organization;
use crate::analytics::page::PAGE_ROWS;
use crate::budget::reservation::BudgetRequest;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::json;
use crate::runtime::{
    HostError, HostResult, log_for_operator, log_line, new_uuid, now, parse_json, stringify_json,
};
use crate::upstream::client::FetchedPage;
use crate::upstream::page_check::read_totals;
use crate::upstream::request::{RequestIds, UpstreamRequest};

/// In the budget. The keys of callers contain a space.
const CALLER: &str = "archive";
/// The next cron trigger continues the work.
const RUN_TIME: Millis = Millis::from_seconds(300);
/// Each causes several of the 1,000 D1 queries per invocation.
const MAX_REQUESTS: u64 = 100;
/// The first wait after a failure is the budget's window divided by this number.
const RETRY_PART: u64 = 60;
const STORAGE: &str = "storage";

struct Project {
    name: ProjectId,
    id: u32,
    record: ProjectRecord,
}

struct Run<'a> {
    store: &'a ArchiveStore,
    projects: Vec<Project>,
    metrics: ArchiveRun,
}

impl Organization {
    pub(super) async fn archive(&self) -> HostResult<()> {
        let Some(store) = &self.archive else {
            let message = "ARCHIVE_PROJECTS is set, and no D1 database is bound as ARCHIVE";
            log_for_operator(message);
            return Ok(());
        };
        let Some(id) = self.archive_lock.borrow_mut().acquire(now()) else {
            return Ok(());
        };
        let result = self.run_archive(store, id).await;
        self.archive_lock.borrow_mut().release(id);
        if let Err(error) = &result {
            let message = format!("the archive: {error}");
            log_for_operator(&message);
        }
        result
    }

    async fn run_archive(&self, store: &ArchiveStore, id: RunId) -> HostResult<()> {
        let started = now();
        if self.convert_days(store, id).await? {
            return Ok(());
        }
        let first = first_retained(&self.settings.archive, started);
        store.prune(first).await?;
        let mut run = Run {
            store,
            projects: self.load_projects(store, id, started).await?,
            metrics: ArchiveRun::default(),
        };
        let has_time = || now().since(started) < RUN_TIME;
        while run.metrics.requests < MAX_REQUESTS
            && has_time()
            && self.archive_requests_left()? > 0
            && self.archive_lock.borrow_mut().renew(id, now())
        {
            let records = run.projects.iter().map(|project| &project.record);
            let recheck_days = self.settings.archive.recheck_days;
            let Some(target) = plan(records, recheck_days, now()) else {
                break;
            };
            if self.fetch_part(&mut run, target).await?.is_break() {
                break;
            }
        }
        if run.metrics != ArchiveRun::default() {
            run.metrics.milliseconds = now().since(started).0;
            log_line(&json::to_text(&json!({ "archive": run.metrics })));
        }
        Ok(())
    }

    /// Copies days from the tables of an earlier version. Returns whether a day was copied; the run
    /// then ends, because D1 limits its queries.
    async fn convert_days(&self, store: &ArchiveStore, run: RunId) -> HostResult<bool> {
        let days = store.days_to_convert().await?;
        let mut copied = 0;
        for key in &days {
            self.renew_lock(run)?;
            match store.convert(*key).await {
                Ok(()) => copied += 1,
                Err(error) => log_for_operator(&format!("a day was not copied: {error}")),
            }
        }
        if copied == days.len() && days.len() < MAX_CONVERTED {
            store.drop_converted().await?;
        }
        Ok(copied > 0)
    }

    fn renew_lock(&self, run: RunId) -> HostResult<()> {
        if self.archive_lock.borrow_mut().renew(run, now()) {
            return Ok(());
        }
        Err(HostError::new("the run took too long and lost its lock"))
    }

    async fn load_projects(
        &self,
        store: &ArchiveStore,
        run: RunId,
        started: Millis,
    ) -> HostResult<Vec<Project>> {
        let settings = &self.settings.archive;
        let mut projects = Vec::new();
        for project in &settings.projects {
            self.renew_lock(run)?;
            let name = project.as_str();
            let stored = store.load(name, settings, started).await?;
            let id = match stored.id {
                Some(id) => id,
                None => store.set_first_day(name, stored.record.first).await?,
            };
            projects.push(Project {
                name: project.clone(),
                id,
                record: stored.record,
            });
        }
        Ok(projects)
    }

    fn archive_requests_left(&self) -> HostResult<u32> {
        let (_, snapshot) = self.budget.snapshot(&self.archive_budget(), now())?;
        Ok(snapshot.quota.map_or(0, |usage| usage.left()))
    }

    fn archive_budget(&self) -> BudgetRequest {
        BudgetRequest {
            caller: CALLER.to_owned(),
            quota: Some(self.settings.archive.limit),
            ..BudgetRequest::of_all(RateLimitPolicy::Analytics)
        }
    }

    async fn fetch_part(&self, run: &mut Run<'_>, target: Target) -> HostResult<ControlFlow<()>> {
        let budget = self.archive_budget();
        let Ok(reservation) = self.reserve(&budget)? else {
            return Ok(ControlFlow::Break(()));
        };
        let project = &run.projects[target.project].name;
        let (operation, path) = build_request(project, target)?;
        let ids = RequestIds::begin(new_uuid(), project.as_str());
        let request = UpstreamRequest {
            operation,
            ids: &ids,
            target: &path,
            body: None,
        };
        let (exchange, _) = self.send_page(&budget, &request, reservation).await?;
        run.metrics.requests += u64::from(exchange.is_sent());
        let problem = match exchange.outcome {
            Ok(reply) => match run.store_part(target, &reply).await {
                Ok(None) => return Ok(ControlFlow::Continue(())),
                Ok(Some(problem)) => problem,
                Err(error) => {
                    log_for_operator(&error.to_string());
                    STORAGE.to_owned()
                }
            },
            Err(failure) => {
                if let Some(operator) = &failure.problem.operator {
                    log_for_operator(operator);
                }
                if failure.problem.kind == ProblemKind::UpstreamUnavailable {
                    // The breaker of this project is open.
                    run.metrics.failures += 1;
                    run.projects.remove(target.project);
                    return Ok(ControlFlow::Continue(()));
                }
                if is_general(&failure.problem) {
                    run.metrics.failures += 1;
                    return Ok(ControlFlow::Break(()));
                }
                failure.problem.kind.type_uri()
            }
        };
        let base = Millis(self.settings.archive.window.0 / RETRY_PART);
        run.record_failure(target, &problem, base).await?;
        Ok(ControlFlow::Continue(()))
    }
}

impl Run<'_> {
    fn record(&mut self, target: Target) -> (&mut DayRecord, DayKey) {
        let Project { id, record, .. } = &mut self.projects[target.project];
        let (project, day) = (*id, target.day);
        (record.record_mut(day), DayKey { project, day })
    }

    /// Restarts the day and returns a problem if the site's totals changed between two pages or too
    /// many pages are empty.
    async fn store_part(
        &mut self,
        target: Target,
        reply: &FetchedPage,
    ) -> HostResult<Option<String>> {
        let store = self.store;
        let (record, key) = self.record(target);
        let parsed = parse_json(&reply.text)?;
        let totals = Reflect::get(&parsed, &"totals".into())?;
        remove_odd_counts(&totals)?;
        let totals = stringify_json(&totals)?;
        let Part::Views(page) = target.part else {
            store.stage_visitors(key, &totals).await?;
            record.record_part(false, now());
            return Ok(None);
        };
        let empty_pages = record.count_empty_pages(reply.rows == 0 && reply.has_more);
        let Some(empty_pages) = empty_pages else {
            record.restart();
            return Ok(Some(ProblemKind::UpstreamMalformed.type_uri()));
        };
        let text = String::from(&totals);
        let earlier = record.totals.as_deref().and_then(read_totals);
        if Totals::are_mixed([earlier, read_totals(&text)]) {
            record.restart();
            return Ok(Some(ProblemKind::CountsChanged.type_uri()));
        }
        let now = now();
        let stored = store.store_views(key, page, reply, &parsed, &totals, now);
        if let Err(error) = stored.await {
            // The database may have run the batch of the last page despite the error. A retry would
            // then replace the day with the last page alone.
            if !reply.has_more {
                record.restart();
            }
            return Err(error);
        }
        record.empty_pages = empty_pages;
        record.totals = Some(text);
        record.record_part(!reply.has_more, now);
        self.metrics.days += u64::from(!reply.has_more);
        Ok(None)
    }

    async fn record_failure(
        &mut self,
        target: Target,
        problem: &str,
        base: Millis,
    ) -> HostResult<()> {
        self.metrics.failures += 1;
        let store = self.store;
        let (record, key) = self.record(target);
        record.record_failure(base, now());
        store.record_failure(key, record, problem).await
    }
}

/// Whether requests for other days of all projects would fail for the same reason.
fn is_general(problem: &Problem) -> bool {
    matches!(
        problem.kind,
        ProblemKind::QuotaExceeded
            | ProblemKind::GatewayBusy
            | ProblemKind::ObjectUnavailable
            | ProblemKind::UpstreamCredential
            | ProblemKind::UpstreamPlan
            | ProblemKind::UpstreamBlocked
    ) || problem.status == 429
}

fn build_request(
    project: &ProjectId,
    target: Target,
) -> Result<(Operation, String), ValidationError> {
    let (from, to) = (target.day.into(), target.day.next().into());
    let range = DateRange::new(Some(from), Some(to))?;
    Ok(match target.part {
        Part::Visitors => {
            let mut list = ListVisitors::from(range);
            list.limit = Some(PageSize::new(1)?);
            (Operation::ListVisitors, list.request(project).target)
        }
        Part::Views(page) => {
            let mut list = ListPageViews::from(range);
            list.limit = Some(PageSize::MAX);
            list.offset = Some(Offset::new(page.saturating_mul(PAGE_ROWS))?);
            (Operation::ListPageViews, list.request(project).target)
        }
    })
}

#[cfg(test)]
mod tests;
