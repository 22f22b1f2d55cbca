//! Failed requests to GitHub.

use quillgate::Millis;
use quillgate_worker::jobs::pull_request::GitHubFailure;

use crate::fixtures::{NOW, SECONDS, at};

fn classify(status: u16, fields: &[(&str, &'static str)]) -> Option<GitHubFailure> {
    let field = |name: &str| {
        let mut fields = fields.iter();
        fields
            .find(|(own, _)| *own == name)
            .map(|(_, value)| *value)
    };
    GitHubFailure::of_response(status, field, NOW)
}

#[test]
fn only_200_is_a_success() {
    assert_eq!(classify(200, &[]), None);
    for status in [301, 302, 307, 400, 401, 403, 404, 410, 451] {
        assert_eq!(classify(status, &[]), Some(GitHubFailure::Refused(status)));
    }
    for status in [201, 204, 500, 502, 503] {
        assert_eq!(classify(status, &[]), Some(GitHubFailure::Failed));
    }
}

#[test]
fn a_rate_limit_pauses_requests_until_the_time_in_the_response() {
    let reset: &str = Box::leak((SECONDS + 900).to_string().into_boxed_str());
    let spent = ("x-ratelimit-remaining", "0");
    for (status, fields, until) in [
        (403, vec![("retry-after", "120")], at(120)),
        (429, vec![("retry-after", "120")], at(120)),
        (403, vec![spent, ("x-ratelimit-reset", reset)], at(900)),
        (429, vec![spent, ("x-ratelimit-reset", reset)], at(900)),
        // The pause is at least a minute, as GitHub requires, and at most an hour, the window of
        // its primary rate limits.
        (429, vec![], at(60)),
        (403, vec![spent], at(60)),
        (403, vec![("retry-after", "1")], at(60)),
        (429, vec![("retry-after", "soon")], at(60)),
        (429, vec![("retry-after", "99999999999999999999")], at(60)),
        (
            429,
            vec![("retry-after", "18446744073709551615")],
            at(3_600),
        ),
        (403, vec![spent, ("x-ratelimit-reset", "0")], at(60)),
    ] {
        let expected = Some(GitHubFailure::Limited(until));
        assert_eq!(classify(status, &fields), expected, "{status} {fields:?}");
    }
    let fields = [
        ("x-ratelimit-remaining", "42"),
        ("x-ratelimit-reset", reset),
    ];
    assert_eq!(classify(403, &fields), Some(GitHubFailure::Refused(403)));
}

#[test]
fn failures_are_cached_and_refusals_are_cached_longer() {
    assert_eq!(GitHubFailure::Failed.fresh_until(NOW), at(60));
    assert_eq!(GitHubFailure::Refused(404).fresh_until(NOW), at(600));
    assert_eq!(
        GitHubFailure::Limited(Millis(7)).fresh_until(NOW),
        Millis(7)
    );
}

#[test]
fn failures_that_the_operator_can_fix_are_described() {
    let describe = |failure: GitHubFailure| failure.describe().unwrap_or_default();
    assert!(describe(GitHubFailure::Refused(401)).contains("GITHUB_TOKEN is not valid"));
    assert!(describe(GitHubFailure::Refused(404)).contains("GitHub answered 404"));
    assert!(describe(GitHubFailure::Limited(NOW)).contains("limits requests"));
    assert_eq!(describe(GitHubFailure::Failed), "");
}
