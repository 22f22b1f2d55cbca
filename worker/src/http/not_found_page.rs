//! The page for browsers that navigate to an unknown path. Other clients receive a problem.

use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use crate::http::request_head::{RequestHead, accepts_page};
use crate::http::response::{GatewayResponse, HeaderFields};

/// Allows only [`STYLE`], by its hash.
const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-M0EbRAGLToVkCIdTpmru11xxw+JLABZPPRHdLvCVKjI='; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub const STYLE: &str = ":root{color-scheme:light dark;color:light-dark(#1c2426,#e8e6df);\
    background:light-dark(#f7f6f3,#13181b)}a{color:light-dark(#0b6558,#6fd0bd)}\
    body{max-width:32rem;margin:15vh auto;padding:0 1.5rem;font:1rem/1.5 system-ui,sans-serif}";

pub fn applies(problem: &Problem, head: &RequestHead) -> bool {
    problem.kind == ProblemKind::NotFound
        && matches!(&*head.method, "GET" | "HEAD")
        && accepts_page(head.header("accept"))
}

pub fn response() -> GatewayResponse {
    let headers = HeaderFields::default()
        .with("content-type", "text/html; charset=utf-8")
        .with("content-security-policy", POLICY)
        .with("cross-origin-opener-policy", "same-origin")
        .with("cross-origin-resource-policy", "same-origin")
        .with("referrer-policy", "no-referrer")
        .with("x-frame-options", "DENY");
    GatewayResponse {
        status: 404,
        headers,
        body: Some(page()),
        problem: Some(ProblemKind::NotFound),
    }
}

fn page() -> String {
    format!(
        "<!doctype html>\n\
        <html lang=\"en\">\n\
        <head>\n\
        <meta charset=\"utf-8\">\n\
        <meta name=\"viewport\" content=\"width=device-width\">\n\
        <title>Page not found · Quillgate</title>\n\
        <style>{STYLE}</style>\n\
        </head>\n\
        <body>\n\
        <main>\n\
        <h1>Page not found</h1>\n\
        <p>This address doesn’t exist. Check it for typos, including extra slashes.</p>\n\
        <p><a href=\"/\">Go to Quillgate</a></p>\n\
        </main>\n\
        </body>\n\
        </html>\n"
    )
}
