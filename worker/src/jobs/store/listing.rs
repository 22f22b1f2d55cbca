use super::JobStore;
use crate::jobs::job_row::JobRow;
use crate::jobs::records::{JobQuery, Position, encode_cursor};
use crate::jobs::resource::Resource;
use crate::json;
use crate::runtime::{HostResult, Values};

const LISTED_JOB: &str = include_str!("sql/listed_job.sql");

const MESSAGES: &str = include_str!("sql/messages.sql");

/// The first state of a job, and each state whose status or pull request differs from the previous
/// one.
const CHANGES: &str = include_str!("sql/changes.sql");

pub struct JobPage {
    pub rows: Vec<JobRow>,
    next: Option<Position>,
    /// Before the page was read.
    revision: u64,
}

impl JobStore {
    /// An SQL expression that converts a row of `job` to an element of the list as JSON.
    fn listed_row(&self) -> &'static str {
        match self.resource() {
            Resource::Job => LISTED_JOB,
            Resource::Deployment => include_str!("sql/listed_deployment.sql"),
        }
    }

    /// The columns of a `StreamEvent` for list streams: SQL expressions over a row of `job`.
    pub(super) fn list_event(&self) -> String {
        let (name, row) = (self.resource().as_str(), self.listed_row());
        format!("revision AS id, '{name}' AS name, {row} AS data")
    }

    /// With a filter, the page can have fewer than `query.limit` jobs even if further, older jobs
    /// match.
    pub async fn page(&self, query: &JobQuery) -> HostResult<JobPage> {
        // Later changes have higher numbers, also those that happen while this page is read.
        let revision: Option<u64> = self.database.value("SELECT revision FROM project", &[])?;
        let revision = revision.unwrap_or_default();
        let found = self.scan(query).await?;
        let clauses = "WHERE row IN (SELECT value FROM json_each(?))
            ORDER BY created_at DESC, row DESC";
        let rows: Vec<_> = found.jobs.iter().map(|job| job.row).collect();
        Ok(JobPage {
            rows: self.select(clauses, &[&json::to_text(&rows)])?,
            next: found.next,
            revision,
        })
    }

    /// Reads the jobs again, because a poll may have changed or deleted some of them. Omits jobs
    /// whose status no longer matches the filter.
    pub fn list(&self, query: &JobQuery, page: &JobPage) -> HostResult<String> {
        let listed_row = self.listed_row();
        let select = format!(
            "SELECT {listed_row} FROM job WHERE row IN (SELECT value FROM json_each(?1))
              AND listed = 1 AND (?2 IS NULL OR status = ?2) ORDER BY created_at DESC, row DESC"
        );
        let rows: Vec<u64> = page.rows.iter().map(|row| row.row).collect();
        let jobs = self.join_rows(&select, &[&json::to_text(&rows), &query.filter.state])?;
        let cursor = json::to_text(&page.next.as_ref().map(encode_cursor));
        let revision = page.revision;
        let name = query.resource.as_str();
        Ok(format!(
            "{{\"{name}s\":[{jobs}],\"nextCursor\":{cursor},\"revision\":{revision}}}"
        ))
    }

    pub fn read_record(&self, id: &str) -> HostResult<Option<String>> {
        // A `quillgate::JobRecord` without `messages` and `changes`, which together can exceed 2
        // MB, the runtime's limit for a value.
        let select = format!(
            "SELECT json_object('job', {LISTED_JOB}, 'prompt', coalesce(prompt, prompt_summary))
            FROM job WHERE id = ? AND listed = 1"
        );
        let Some(record) = self.database.value::<String>(&select, &[&id])? else {
            return Ok(None);
        };
        let properties = record.strip_suffix('}').unwrap_or(&record);
        let messages = self.join_rows(MESSAGES, &[&id])?;
        let changes = self.join_rows(CHANGES, &[&id])?;
        Ok(Some(format!(
            "{properties},\"messages\":[{messages}],\"changes\":[{changes}]}}"
        )))
    }

    fn join_rows(&self, query: &str, values: Values<'_>) -> HostResult<String> {
        let rows: Vec<String> = self.database.values(query, values)?;
        Ok(rows.join(","))
    }
}
