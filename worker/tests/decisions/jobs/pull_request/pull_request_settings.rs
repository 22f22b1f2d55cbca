//! Settings for requests to GitHub.

use quillgate_worker::jobs::pull_request::pull_request_settings::PullRequestSettings;

use crate::fixtures::configure;

const TOKEN: &str = "github_pat_hunter2";

fn read(changes: &[(&'static str, Option<&'static str>)]) -> Option<PullRequestSettings> {
    configure(changes).pull_requests
}

#[test]
fn github_requests_are_on_with_a_token_or_if_switched_on() {
    let token = ("GITHUB_TOKEN", Some(TOKEN));
    let switch = |value| ("PULL_REQUEST_STATES", Some(value));
    for (changes, is_on) in [
        (vec![], false),
        (vec![("GITHUB_TOKEN", Some(" "))], false),
        (
            vec![("GITHUB_API_URL", Some("https://github.example"))],
            false,
        ),
        (vec![token], true),
        (vec![switch("on")], true),
        (vec![token, switch("on")], true),
        (vec![token, switch("off")], false),
    ] {
        assert_eq!(read(&changes).is_some(), is_on, "{changes:?}");
    }
}

#[test]
fn the_token_is_sent_as_a_bearer_token_and_not_printed() {
    let settings = read(&[("GITHUB_TOKEN", Some(TOKEN))]).unwrap();
    let headers = settings.headers();
    assert_eq!(
        headers.get("authorization"),
        Some("Bearer github_pat_hunter2")
    );
    assert!(headers.get("user-agent").is_some(), "GitHub requires it");
    assert!(!format!("{settings:?}").contains("hunter2"));
    assert_eq!(settings.base_url.as_str(), "https://api.github.com");

    let settings = read(&[("PULL_REQUEST_STATES", Some("on"))]).unwrap();
    assert_eq!(settings.headers().get("authorization"), None);
}
