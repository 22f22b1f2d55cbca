//! Variables for pull requests.

use super::assert_wrong;

#[test]
fn malformed_variables_of_pull_requests_are_rejected() {
    for value in [
        "mint_hunter2_of_mintlify",
        "github_pat_hunter2 with a space",
        "github_pat_hunter2\r\nx-injected: 1",
        "github_pat_hunter2_ü",
    ] {
        assert_wrong("GITHUB_TOKEN", Some(value));
    }
    for value in [
        "http://github.hunter2.example",
        "api.github.hunter2.example",
        "https://user:hunter2@github.example",
        "https://github.example/?key=hunter2",
    ] {
        assert_wrong("GITHUB_API_URL", Some(value));
    }
    for value in ["true", "ON", "1", "public"] {
        assert_wrong("PULL_REQUEST_STATES", Some(value));
    }
}
