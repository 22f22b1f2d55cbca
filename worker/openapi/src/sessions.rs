//! Describes the operations that the gateway's own page uses to open, read and end sessions.

use quillgate_worker::auth::session::cookie;
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Map, Value, json};

use super::fields::{self, Fields};
use super::problems::{self, ADMISSION, BODY, UNAUTHENTICATED};
use super::{JSON, gateway, schema};

/// The name of the security scheme.
pub const SCHEME: &str = "session";
/// The `description` of operations that change a session.
const SAME_ORIGIN: &str = "For the gateway's own page: `Origin` must be the gateway's, and \
    `Sec-Fetch-Site`, if present, must be `same-origin`.";

/// Returns the paths of sessions.
pub fn paths() -> Vec<(&'static str, Value)> {
    let both = |get: Value| json!({ "head": gateway::head(&get), "get": get });
    let mut session = both(read());
    session["post"] = open();
    session["delete"] = end();
    vec![
        ("/session", session),
        ("/session/methods", both(methods())),
        ("/session/start", json!({ "get": start() })),
        ("/session/callback", json!({ "get": callback() })),
    ]
}

/// Returns the name and the Security Scheme Object of the session cookie.
pub fn security_scheme() -> (String, Value) {
    let scheme = json!({
        "type": "apiKey",
        "in": "cookie",
        "name": cookie::NAME,
        "description": "The session cookie of the gateway's own page. Every operation accepts it \
            instead of an access token, with the projects and scopes of the token that opened \
            the session. Ignored if the request has `Authorization`. Writes need the gateway's \
            own `Origin`. Requests from other sites are rejected (`cross-site`).",
    });
    (SCHEME.to_owned(), scheme)
}

/// Returns the schemas of sessions for `components.schemas`.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let session = json!({
        "type": "object",
        "required": [
            "issuer", "subject", "projects", "archivedProjects", "scopes", "keepsPrompts", "expiresAt",
        ],
        "properties": {
            "issuer": {
                "description": "The token's `iss`; `null` for a token of the gateway.",
                "type": ["string", "null"],
            },
            "subject": { "type": "string", "description": "The token's `sub`." },
            "projects": texts,
            "archivedProjects": {
                "description": "The projects that the daily archive includes.",
                "type": "array",
                "items": { "type": "string" },
            },
            "scopes": texts,
            "keepsPrompts": {
                "description": "The part of new prompts that job records store.",
                "enum": ["whole", "first-line"],
            },
            "expiresAt": {
                "description": "The end of the session in milliseconds since 1970: when its \
                    token expires, after 90 days at most.",
                "type": "integer",
            },
        },
        "additionalProperties": false,
    });
    let issuer = json!({
        "type": "object",
        "required": ["name", "href"],
        "properties": {
            "name": { "type": "string", "minLength": 1 },
            "href": { "type": "string", "format": "uri-reference" },
        },
        "additionalProperties": false,
    });
    let methods = json!({
        "type": "object",
        "required": ["token", "access", "issuers"],
        "properties": {
            "token": { "const": true },
            "access": {
                "description": "Whether users can sign in with Cloudflare Access.",
                "type": "boolean",
            },
            "issuers": { "type": "array", "items": issuer },
        },
        "additionalProperties": false,
    });
    vec![("Session", session), ("SessionMethods", methods)]
}

fn operation(id: &str, summary: &str, description: &str, responses: &Map<String, Value>) -> Value {
    json!({
        "operationId": id,
        "tags": ["gateway"],
        "summary": summary,
        "description": description,
        "security": [],
        "parameters": fields::parameter_references(&fields::ALL_REQUESTS),
        "responses": responses,
    })
}

fn read() -> Value {
    let own = [ProblemKind::ObjectUnavailable];
    let mut responses = problems::responses(&[ADMISSION, &own].concat(), &[]);
    responses.insert("200".to_owned(), of_session("The session.", json!({})));
    let mut read = operation(
        "gateway.session",
        "Returns the session of the browser's cookie.",
        "Ignores access tokens, which have no session.",
        &responses,
    );
    read["security"] = json!([{ SCHEME: [] }]);
    read
}

fn open() -> Value {
    let own = [
        ProblemKind::InvalidRequest,
        ProblemKind::QuotaExceeded,
        ProblemKind::ObjectUnavailable,
    ];
    let mut responses = problems::responses(&[ADMISSION, BODY, &own].concat(), &[]);
    let cookie = of_session("The session, with its cookie.", sets_cookie());
    responses.insert("201".to_owned(), cookie);
    let description = format!(
        "Takes an access token in the body or, without one, the token of Cloudflare Access. The \
            session ends when the token expires, after 90 days at most. An earlier session of \
            the browser ends. {SAME_ORIGIN}"
    );
    let summary = "Opens a session. Scripts cannot read its cookie.";
    let mut open = operation("gateway.openSession", summary, &description, &responses);
    open["requestBody"] = json!({
        "required": true,
        "content": { JSON: { "schema": {
            "type": "object",
            "properties": {
                "token": { "type": "string", "description": "An access token.", "writeOnly": true },
            },
            "additionalProperties": false,
        } } },
    });
    open
}

fn end() -> Value {
    let own = [ProblemKind::ObjectUnavailable];
    let mut responses = problems::responses(&[UNAUTHENTICATED, &own].concat(), &[]);
    responses.insert(
        "204".to_owned(),
        json!({ "description": "The session has ended.", "headers": with_common(sets_cookie()) }),
    );
    let description = format!("Its cookie is no longer valid. {SAME_ORIGIN}");
    let summary = "Ends the browser's session, if any.";
    operation("gateway.endSession", summary, &description, &responses)
}

fn methods() -> Value {
    let mut responses = problems::responses(UNAUTHENTICATED, &[]);
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The ways to open a session.",
            "headers": Fields::common().describe(),
            "content": { JSON: { "schema": schema("SessionMethods") } },
        }),
    );
    operation(
        "gateway.sessionMethods",
        "Lists the ways to open a session.",
        "`issuers` are those of `SIGN_IN_ISSUERS`. To sign in with one, open its `href` in the \
            browser.",
        &responses,
    )
}

const FAILED_NAVIGATION: &str = "After a failure, browsers that navigate (`Sec-Fetch-Mode: \
     navigate`, or `Accept` with `text/html`) are redirected to `/?sign-in-failed=<kind>`, with the \
     last segment of the problem's `type`. Other requests receive the problem.";

fn start() -> Value {
    let own = [ProblemKind::InvalidRequest, ProblemKind::NotFound];
    let mut responses = problems::responses(&[UNAUTHENTICATED, &own].concat(), &[]);
    responses.insert(
        "302".to_owned(),
        redirect("Redirects to the issuer's authorization endpoint."),
    );
    responses.insert(
        "303".to_owned(),
        to_page("Redirects to the page that explains the failure."),
    );
    let mut start = operation(
        "gateway.startSignIn",
        "Redirects the browser to an issuer to sign in.",
        &format!(
            "Uses the authorization code flow with PKCE. Users must finish within ten minutes, in \
             the same browser, which can have five sign-ins in progress. {FAILED_NAVIGATION}"
        ),
        &responses,
    );
    add_parameter(&mut start, "issuer", true, "The issuer's name.");
    add_parameter(
        &mut start,
        "return",
        false,
        "The path to return to after signing in. If it has more than 1,024 bytes, its longest \
            parameters are dropped. Default: `/`.",
    );
    start
}

fn callback() -> Value {
    let own = [
        ProblemKind::SignInFailed,
        ProblemKind::InvalidToken,
        ProblemKind::IdentityNotMapped,
        ProblemKind::QuotaExceeded,
        ProblemKind::IssuerUnavailable,
        ProblemKind::ObjectUnavailable,
    ];
    let mut responses = problems::responses(&[UNAUTHENTICATED, &own].concat(), &[]);
    let concluded =
        "Redirects to the page. If the sign-in succeeded, the response sets the session cookie.";
    responses.insert("303".to_owned(), to_page(concluded));
    let mut callback = operation(
        "gateway.concludeSignIn",
        "Opens a session after a sign-in with an issuer.",
        &format!(
            "The redirect target of issuers, valid once for each sign-in. The browser's earlier \
             session ends. {FAILED_NAVIGATION} Other parameters are ignored."
        ),
        &responses,
    );
    for (name, doc) in [
        ("state", "Identifies the sign-in."),
        ("code", "The authorization code, exchanged for an ID token."),
        ("iss", "The issuer (RFC 9207)."),
    ] {
        add_parameter(&mut callback, name, false, doc);
    }
    callback
}

fn add_parameter(operation: &mut Value, name: &str, is_required: bool, doc: &str) {
    let parameter = json!({
        "name": name,
        "in": "query",
        "required": is_required,
        "description": doc,
        "schema": { "type": "string" },
    });
    if let Some(parameters) = operation["parameters"].as_array_mut() {
        parameters.push(parameter);
    }
}

fn of_session(description: &str, headers: Value) -> Value {
    json!({
        "description": description,
        "headers": with_common(headers),
        "content": { JSON: { "schema": schema("Session") } },
    })
}

fn redirect(description: &str) -> Value {
    let mut headers = sets_cookie();
    headers["Location"] = json!({
        "description": "The target.",
        "required": true,
        "schema": { "type": "string", "format": "uri-reference" },
    });
    json!({ "description": description, "headers": with_common(headers) })
}

/// Returns a redirect to the page. It sets cookies only if the sign-in succeeded.
fn to_page(description: &str) -> Value {
    let mut redirect = redirect(description);
    redirect["headers"]["Set-Cookie"]["required"] = false.into();
    redirect
}

fn sets_cookie() -> Value {
    json!({ "Set-Cookie": {
        "description": "`Secure`, `HttpOnly`, and only for this host.",
        "required": true,
        "schema": { "type": "string" },
    } })
}

fn with_common(headers: Value) -> Map<String, Value> {
    let mut all = Fields::common().describe();
    if let Value::Object(headers) = headers {
        all.extend(headers);
    }
    all
}
