//! The migrations of a project's jobs, and the columns that queries share.
//!
//! The number of a migration is its position in the steps of the project's object. A released
//! migration never changes, because databases exist that ran it.

/// The jobs, their past states and the project.
pub const JOB_TABLES: &str = include_str!("migrations/0003_jobs.sql");

/// The columns that schedule polls and deletions. For jobs of earlier releases, both schedules start
/// with the migration.
///
/// `webhook_poll` is set while a webhook waits for the end of a job. Its index finds those jobs
/// without a scan.
pub const JOB_UPKEEP: &str = include_str!("migrations/0007_job_upkeep.sql");

/// The time of the first of consecutive 404 responses for a job.
pub const MISSING_JOBS: &str = include_str!("migrations/0008_missing_jobs.sql");

/// Whole prompts, follow-ups, the start of each state, and the revisions of the list.
///
/// `folded` holds the searchable part of the prompt in lower case. It is set only for prompts with
/// non-ASCII characters, because `SQLite`'s `lower` handles only ASCII.
pub const JOB_RECORDS: &str = include_str!("migrations/0009_job_records.sql");

/// The latest deletion that is no longer stored. Earlier releases did not record it, so every
/// position before the oldest stored deletion counts as too old.
pub const FORGOTTEN_DELETIONS: &str = include_str!("migrations/0011_forgotten_deletions.sql");

/// Selects the columns of a `JobRow`. The argument continues the query after the table.
macro_rules! select_jobs {
    ($($rest:tt)+) => {
        concat!(
            "SELECT row, id, listed, webhook, created, status, data, seq, checked, began,
              not_before, missing_since, since FROM job ",
            $($rest)+
        )
    };
}
pub(super) use select_jobs;

/// Expands to a [`quillgate::ListedJob`] as JSON, an expression over a row of `job`.
macro_rules! listed_job {
    () => {
        include_str!("sql/listed_job.sql")
    };
}
pub(super) use listed_job;

/// Expands to the columns of a `ListEvent`, expressions over a row of `job`.
macro_rules! list_event {
    () => {
        concat!("revision, 'job' AS name, ", listed_job!(), " AS data")
    };
}
pub(super) use list_event;
