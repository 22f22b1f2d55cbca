//! Same-origin checks.

use quillgate_worker::auth::session::cross_site::check_same_origin;

use super::{ORIGIN, SESSION, VIEWS, cookie, head, refuse, signing_in};
use crate::fixtures::{RequestHead, admit, configuration, status_and_kind};

const SITES: [Option<&str>; 5] = [
    None,
    Some("same-origin"),
    Some("none"),
    Some("same-site"),
    Some("cross-site"),
];
const ORIGINS: [Option<&str>; 7] = [
    None,
    Some(ORIGIN),
    Some("https://docs.example"),
    Some("https://evil.gate.example"),
    Some("http://gate.example"),
    Some("https://gate.example:8443"),
    Some("null"),
];

#[test]
fn only_the_gateways_page_can_use_a_session() {
    for method in ["GET", "HEAD", "POST", "DELETE", "PUT", "OPTIONS"] {
        let reads = matches!(method, "GET" | "HEAD");
        for site in SITES {
            for origin in ORIGINS {
                let request = RequestHead {
                    origin,
                    fetch_site: site,
                    ..head(method, VIEWS)
                };
                let comes_from_here = match (origin, site) {
                    (Some(ORIGIN), None | Some("same-origin")) => true,
                    (None, None | Some("same-origin" | "none")) | (Some(ORIGIN), Some("none")) => {
                        reads
                    }
                    _ => false,
                };
                let checked = check_same_origin(&request.read());
                assert_eq!(
                    checked.is_ok(),
                    comes_from_here,
                    "{method} {origin:?} {site:?}"
                );
                if let Err(problem) = checked {
                    assert_eq!(status_and_kind(&problem), (403, "cross-site"));
                }
            }
        }
    }
}

#[test]
fn origin_allowed_for_tokens_cannot_use_the_cookie() {
    let cookie = cookie();
    // https://docs.example is in ALLOWED_ORIGINS.
    let request = RequestHead {
        origin: Some("https://docs.example"),
        cookie: Some(&cookie),
        ..head("GET", VIEWS)
    };
    let problem = admit(&configuration(), &request).result.unwrap_err();
    assert_eq!(status_and_kind(&problem), (403, "cross-site"));
}

#[test]
fn forged_cookie_follows_the_same_origin_rule() {
    let request = RequestHead {
        cookie: Some("__Host-quillgate=x"),
        fetch_site: Some("same-site"),
        ..head("GET", VIEWS)
    };
    assert_eq!(status_and_kind(&refuse(&request)), (403, "cross-site"));
}

#[test]
fn other_cookies_are_ignored() {
    let request = RequestHead {
        cookie: Some("theme=dark"),
        fetch_site: Some("cross-site"),
        ..head("GET", VIEWS)
    };
    assert_eq!(status_and_kind(&refuse(&request)), (401, "missing-token"));
}

#[test]
fn other_pages_cannot_open_or_end_sessions_or_start_sign_in() {
    let start = "https://gate.example/session/start?issuer=Second";
    for (method, url) in [("POST", SESSION), ("DELETE", SESSION), ("GET", start)] {
        let own = RequestHead {
            fetch_site: Some("same-origin"),
            ..head(method, url)
        };
        assert!(admit(&signing_in(), &own).result.is_ok(), "{method} {url}");
        for site in ["same-site", "cross-site"] {
            let elsewhere = RequestHead {
                fetch_site: Some(site),
                ..own
            };
            assert_eq!(status_and_kind(&refuse(&elsewhere)), (403, "cross-site"));
        }
    }
    for method in ["POST", "DELETE"] {
        let silent = RequestHead {
            origin: None,
            ..head(method, SESSION)
        };
        assert_eq!(status_and_kind(&refuse(&silent)), (403, "cross-site"));
    }
}

#[test]
fn issuer_redirect_is_accepted_with_any_session() {
    let cookie = cookie();
    let request = RequestHead {
        cookie: Some(&cookie),
        access_assertion: Some("x"),
        fetch_site: Some("cross-site"),
        ..head(
            "GET",
            "https://gate.example/session/callback?code=x&state=y",
        )
    };
    assert!(admit(&signing_in(), &request).result.is_ok());
}
