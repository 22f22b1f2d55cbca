//! The count of reads of jobs.

use quillgate_worker::budget::read_budget::ReadBudget;
use quillgate_worker::http::problem::Problem;
use serde_json::json;

use super::callers::{ISSUERS, issuers_bearer};
use super::{EVENTS, JOB, JOBS, VIEWS, get};
use crate::fixtures::{Outcome, admit_counted, bearer, configure, field_and_rule, status_and_kind};

/// Returns the number of reads that are left after an admitted request, such as `r=2`.
fn left(outcome: Outcome) -> Result<Option<String>, Problem> {
    outcome.result?;
    let field = outcome.facts.budget.get("ratelimit");
    let left = field.and_then(|field| field.split(';').nth(1));
    Ok(left.map(str::to_owned))
}

#[test]
fn only_an_admitted_read_of_jobs_counts() {
    let config = configure(&[("READ_LIMIT_PER_HOUR", Some("3"))]);
    let bearer = bearer();
    let mut reads = ReadBudget::default();
    let mut read = |url: &str| left(admit_counted(&config, &get(url, &bearer), None, &mut reads));
    let left = |count: u32| Ok(Some(format!("r={count}")));
    assert_eq!(read(JOBS), left(2));
    assert_eq!(read(VIEWS), Ok(None));
    let unread = read(&format!("{JOBS}?cursor=x")).unwrap_err();
    assert_eq!(field_and_rule(&unread).0, "cursor");
    let foreign = read(&JOB.replace("demo-docs", "secret")).unwrap_err();
    assert_eq!(status_and_kind(&foreign), (403, "project-not-allowed"));
    assert_eq!(read(JOB), left(1));
    assert_eq!(read(EVENTS), left(0));
    let refused = read(&format!("{JOB}/pull-request")).unwrap_err();
    assert_eq!(status_and_kind(&refused), (429, "quota-exceeded"));
    // Another project has its own count.
    assert_eq!(read(&JOBS.replace("demo-docs", "other%20docs")), left(2));
}

#[test]
fn a_read_counts_once_although_its_caller_is_identified_first() {
    let limit = ("READ_LIMIT_PER_HOUR", Some("3"));
    let config = configure(&[("TRUSTED_ISSUERS", Some(ISSUERS)), limit]);
    let bearer = issuers_bearer(&json!({ "team": "docs" }));
    let mut reads = ReadBudget::default();
    for expected in ["r=2", "r=1", "r=0"] {
        let outcome = admit_counted(&config, &get(JOBS, &bearer), None, &mut reads);
        assert_eq!(left(outcome), Ok(Some(expected.to_owned())));
    }
}
