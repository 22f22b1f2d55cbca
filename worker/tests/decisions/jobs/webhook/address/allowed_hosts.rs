//! Allowed webhook hosts.

use quillgate_worker::http::url::lowercase_origin;
use quillgate_worker::jobs::job_settings::WebhookSettings;
use quillgate_worker::jobs::webhook::{check_address, recheck_address};

use super::{assert_refused, hosts};
use crate::fixtures::field_and_rule;

#[test]
fn only_listed_hosts_are_accepted_including_the_port() {
    let hosts = hosts(&[
        "hooks.example.com",
        "Ci.Example.com:8443",
        "[2606:4700::1]:444",
    ]);
    for url in [
        "https://hooks.example.com/",
        "https://HOOKS.example.com/x?y",
        "https://ci.example.com:8443/",
        "https://[2606:4700::1]:444/",
    ] {
        assert!(check_address(url, &hosts).is_ok(), "{url}");
    }
    for url in [
        "https://hooks.example.com:443/",
        "https://hooks.example.com:8443/",
        "https://ci.example.com/",
        "https://a.hooks.example.com/",
        "https://hooks.example.com.evil.example/",
        "https://evil.example/hooks.example.com",
        "https://hooks.example.com@evil.example/",
        "https://evil.example\\hooks.example.com",
        "https://[2606:4700::1]/",
        "http://hooks.example.com/",
    ] {
        assert_refused(url, &hosts);
    }
}

#[test]
fn listed_loopback_host_is_accepted_with_http() {
    let hosts = hosts(&["localhost:9000", "127.0.0.1:9000", "[::1]:9000"]);
    for url in [
        "http://localhost:9000/hook",
        "https://localhost:9000/hook",
        "http://127.0.0.1:9000/",
        "http://[::1]:9000/",
    ] {
        assert_eq!(check_address(url, &hosts).as_deref(), Ok(url), "{url:?}");
    }
    for url in [
        "http://localhost:9001/",
        "http://127.0.0.2:9000/",
        "http://127.1:9000/",
        "http://[::ffff:127.0.0.1]:9000/",
        "http://localhost.:9000/",
    ] {
        assert_refused(url, &hosts);
    }
}

#[test]
fn listing_a_private_host_does_not_make_it_public() {
    for host in [
        "10.0.0.1",
        "169.254.169.254",
        "[fd00::1]",
        "a.internal",
        "127.1",
        "a.localhost",
    ] {
        assert_refused(&format!("https://{host}/"), &hosts(&[host]));
        assert_refused(&format!("http://{host}/"), &hosts(&[host]));
    }
}

#[test]
fn callers_cannot_name_a_url_without_listed_hosts() {
    for url in ["https://hooks.example/", "http://localhost:9000/", "x"] {
        let problem = check_address(url, &[]).unwrap_err();
        assert_eq!(problem.status, 400);
        let expected = ("Webhook-Url".to_owned(), "webhook-hosts".to_owned());
        assert_eq!(field_and_rule(&problem), expected);
        assert!(
            problem.detail.contains("WEBHOOK_HOSTS"),
            "{}",
            problem.detail
        );
    }
}

fn settings(url: Option<&str>, list: &[&str]) -> WebhookSettings {
    WebhookSettings {
        url: url.map(str::to_owned),
        secrets: vec![vec![1; 32]],
        hosts: hosts(list),
    }
}

#[test]
fn url_is_checked_again_at_delivery() {
    let url = "https://hooks.example/x?Token";
    for (settings, is_allowed) in [
        (settings(None, &["hooks.example"]), true),
        (settings(None, &["other.example", "hooks.example"]), true),
        (settings(Some(url), &[]), true),
        (settings(Some(url), &["other.example"]), true),
        (settings(None, &[]), false),
        (settings(None, &["other.example"]), false),
        (settings(None, &["hooks.example:8443"]), false),
        (settings(Some("https://hooks.example/x?token"), &[]), false),
        (
            settings(Some("https://hooks.example/x"), &["other.example"]),
            false,
        ),
    ] {
        let expected = is_allowed.then(|| url.to_owned());
        assert_eq!(recheck_address(url, &settings), expected);
        // Earlier releases stored URLs verbatim. Hosts are compared case-insensitively.
        assert_eq!(
            recheck_address("https://Hooks.Example/x?Token", &settings),
            expected
        );
    }
    let local = settings(Some("http://127.0.0.1:9000/"), &[]);
    let own = recheck_address("http://127.0.0.1:9000/", &local);
    assert_eq!(own.as_deref(), Some("http://127.0.0.1:9000/"));
    for url in [
        "https://10.0.0.1/",
        "https://a.internal/",
        "http://hooks.example/",
    ] {
        let listed = settings(None, &["10.0.0.1", "a.internal", "hooks.example"]);
        assert_eq!(recheck_address(url, &listed), None, "{url}");
    }
    let mut unsigned = settings(Some(url), &["hooks.example"]);
    unsigned.secrets.clear();
    assert_eq!(recheck_address(url, &unsigned), None);
}

#[test]
fn accepted_url_has_one_spelling() {
    for (url, expected) in [
        (
            "HTTPS://Hooks.Example:8443/A?B",
            "https://hooks.example:8443/A?B",
        ),
        ("https://Hooks.Example?B", "https://hooks.example?B"),
        ("https://hooks.example", "https://hooks.example"),
    ] {
        assert_eq!(lowercase_origin(url), expected, "{url:?}");
    }
}
