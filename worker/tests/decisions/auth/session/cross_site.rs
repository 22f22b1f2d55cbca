use quillgate_worker::auth::session::cross_site::check_same_origin;

use super::{ORIGIN, SESSION, VIEWS, cookie, head, refuse, signing_in};
use crate::fixtures::{admit, summarize};

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
                let request = head(method, VIEWS).origin(origin).fetch_site(site);
                let comes_from_here = match (origin, site) {
                    (Some(ORIGIN), None | Some("same-origin")) => true,
                    (None, None | Some("same-origin" | "none")) | (Some(ORIGIN), Some("none")) => {
                        reads
                    }
                    _ => false,
                };
                let checked = check_same_origin(&request.read());
                let found = checked.is_ok();
                assert_eq!(found, comes_from_here, "{method} {origin:?} {site:?}");
                if let Err(problem) = checked {
                    assert_eq!(summarize(&problem), "403 cross-site");
                }
            }
        }
    }
}

#[test]
fn any_session_cookie_needs_the_same_origin_and_other_cookies_are_ignored() {
    let (cookie, views) = (cookie(), head("GET", VIEWS));
    let (same_site, cross_site) = (Some("same-site"), Some("cross-site"));
    // https://docs.example is in ALLOWED_ORIGINS.
    let allowed = Some("https://docs.example");
    for (cookie, origin, site, expected) in [
        (&*cookie, allowed, None, "403 cross-site"),
        ("__Host-quillgate=x", None, same_site, "403 cross-site"),
        ("theme=dark", None, cross_site, "401 missing-token"),
    ] {
        let request = views.cookie(cookie).origin(origin).fetch_site(site);
        assert_eq!(summarize(&refuse(&request)), expected, "{cookie}");
    }
}

#[test]
fn other_pages_cannot_open_or_end_sessions_or_start_sign_in() {
    let start = "https://gate.example/session/start?issuer=Second";
    for (method, url) in [("POST", SESSION), ("DELETE", SESSION), ("GET", start)] {
        let own = head(method, url).fetch_site("same-origin");
        assert!(admit(&signing_in(), &own).result.is_ok(), "{method} {url}");
        for site in ["same-site", "cross-site"] {
            let elsewhere = own.fetch_site(site);
            assert_eq!(summarize(&refuse(&elsewhere)), "403 cross-site");
        }
    }
    for method in ["POST", "DELETE"] {
        let silent = head(method, SESSION).origin(None);
        assert_eq!(summarize(&refuse(&silent)), "403 cross-site");
    }
}

#[test]
fn issuer_redirect_is_accepted_with_any_session() {
    let (cookie, url) = (cookie(), format!("{SESSION}/callback?code=x&state=y"));
    let request = head("GET", &url).cookie(&*cookie).access_assertion("x");
    let request = request.fetch_site("cross-site");
    assert!(admit(&signing_in(), &request).result.is_ok());
}
