//! The count of reads of jobs.

use quillgate_worker::app::admission::{Facts, admit};
use quillgate_worker::auth::VerifiedTokens;
use quillgate_worker::budget::read_budget::ReadBudget;
use quillgate_worker::http::problem::Problem;

use super::{EVENTS, JOB, JOBS, VIEWS, get};
use crate::fixtures::{NOW, bearer, configure, field_and_rule, status_and_kind};

#[test]
fn only_an_admitted_read_of_jobs_counts() {
    let config = configure(&[("READ_LIMIT_PER_HOUR", Some("3"))]);
    let bearer = bearer();
    let (mut verified, mut reads) = (VerifiedTokens::default(), ReadBudget::default());
    // Returns the number of reads that are left.
    let mut read = |url: &str| -> Result<Option<String>, Problem> {
        let (mut facts, head) = (Facts::default(), get(url, &bearer).read());
        admit(&config, &head, NOW, (&mut verified, &mut reads), &mut facts)?;
        let parts = facts
            .budget
            .get("ratelimit")
            .map(|field| field.split(';').nth(1));
        Ok(parts.flatten().map(str::to_owned))
    };
    let left = |count: u32| Ok(Some(format!("r={count}")));
    assert_eq!(read(JOBS), left(2));
    assert_eq!(read(VIEWS), Ok(None));
    let unread = read(&format!("{JOBS}?cursor=x")).unwrap_err();
    assert_eq!(field_and_rule(&unread).0, "cursor");
    read(&JOB.replace("demo-docs", "secret")).unwrap_err();
    assert_eq!(read(JOB), left(1));
    assert_eq!(read(EVENTS), left(0));
    let refused = read(&format!("{JOB}/pull-request")).unwrap_err();
    assert_eq!(status_and_kind(&refused), (429, "quota-exceeded"));
    // Another project has its own count.
    assert_eq!(read(&JOBS.replace("demo-docs", "other%20docs")), left(2));
}
