use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quillgate_worker::http::not_found_page::{applies, response};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::request_head::RequestHead;
use quillgate_worker::http::response::HeaderFields;
use sha2::{Digest, Sha256};

fn navigate(method: &str, accept: &'static str) -> RequestHead {
    let url = "https://gate.example/some/path".to_owned();
    let headers = HeaderFields::default().with("accept", accept);
    RequestHead::read("id".to_owned(), method.to_owned(), url, headers)
}

#[test]
fn page_is_returned_only_to_browsers_that_navigate_to_an_unknown_path() {
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    let unknown = Problem::not_found();
    assert!(applies(&unknown, &navigate("GET", html)));
    assert!(applies(&unknown, &navigate("HEAD", html)));
    assert!(!applies(&unknown, &navigate("POST", html)));
    assert!(!applies(&unknown, &navigate("GET", "*/*")));
    assert!(!applies(&unknown, &navigate("GET", "application/json")));
    assert!(!applies(&Problem::internal(), &navigate("GET", html)));
}

#[test]
fn policy_allows_only_the_style_of_the_page() {
    let page = response();
    let body = page.body.unwrap();
    let (_, rest) = body.split_once("<style>").unwrap();
    let (style, rest) = rest.split_once("</style>").unwrap();
    let hash = STANDARD.encode(Sha256::digest(style));
    let policy = page.headers.get("content-security-policy").unwrap();
    let source = format!("style-src 'sha256-{hash}'");
    assert!(policy.contains(&source), "{policy}");
    assert!(rest.contains("<a href=\"/\">"));
}
