//! Operations on sessions of the gateway's own page.

use quillgate_worker::auth::session::cookie;
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Map, Value, json};

use super::fields::{self, Fields};
use super::problems::{self, ADMISSION, BODY, PLAIN};
use super::{JSON, gateway, schema};

/// The name of the security scheme.
const SCHEME: &str = "session";
/// The `description` of operations that change a session.
const SAME_ORIGIN: &str = "For the gateway's own page: `Origin` has to be the gateway's, and \
    `Sec-Fetch-Site`, where the browser sends it, `same-origin`.";

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
        "description": "The cookie of a session, for the page that the gateway itself serves: each \
            operation takes it in the place of an access token, with the projects and scopes of the token \
            that the session was opened with. It counts only without `Authorization`. What changes something \
            needs the gateway's own `Origin`, and whatever a browser says to come from elsewhere is refused \
            (`cross-site`).",
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
                "description": "Who says so: the token's `iss`, and `null` for a token of the gateway's own.",
                "type": ["string", "null"],
            },
            "subject": { "type": "string", "description": "Whose it is: the token's `sub`." },
            "projects": texts,
            "archivedProjects": {
                "description": "Those of its projects that the daily archive keeps.",
                "type": "array",
                "items": { "type": "string" },
            },
            "scopes": texts,
            "keepsPrompts": {
                "description": "The part of new prompts that the records of jobs store.",
                "enum": ["whole", "first-line"],
            },
            "expiresAt": {
                "description": "When it ends, in milliseconds since 1970: with its token, after 90 days at the latest.",
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
                "description": "Whether Cloudflare Access may say who is calling.",
                "type": "boolean",
            },
            "issuers": { "type": "array", "items": issuer },
        },
        "additionalProperties": false,
    });
    vec![("Session", session), ("SessionMethods", methods)]
}

fn described(id: &str, summary: &str, description: &str, responses: &Map<String, Value>) -> Value {
    json!({
        "operationId": id,
        "tags": ["gateway"],
        "summary": summary,
        "description": description,
        "security": [],
        "parameters": fields::taken(&fields::ANY_REQUEST),
        "responses": responses,
    })
}

fn read() -> Value {
    let own = [ProblemKind::ObjectUnavailable];
    let mut responses = problems::responses(&[ADMISSION, &own].concat(), &[]);
    responses.insert("200".to_owned(), of_session("The session.", json!({})));
    let mut read = described(
        "gateway.session",
        "Says whose session the browser's cookie is of.",
        "The cookie alone counts here: an access token has no session.",
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
        "With an access token in the body or, without one, with what Cloudflare Access says about the \
        request. The session ends when the token expires, after 90 days at the latest; one that the browser has \
        is ended. {SAME_ORIGIN}"
    );
    let summary = "Opens a session, whose cookie no script of the page can read.";
    let mut open = described("gateway.openSession", summary, &description, &responses);
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
    let mut responses = problems::responses(&[PLAIN, &own].concat(), &[]);
    responses.insert(
        "204".to_owned(),
        json!({ "description": "There is no session.", "headers": with_common(sets_cookie()) }),
    );
    let description = format!("Its cookie counts nowhere any more. {SAME_ORIGIN}");
    let summary = "Ends the session of the browser, if it has one.";
    described("gateway.endSession", summary, &description, &responses)
}

fn methods() -> Value {
    let mut responses = problems::responses(PLAIN, &[]);
    responses.insert(
        "200".to_owned(),
        json!({
            "description": "The ways to open a session.",
            "headers": Fields::common().described(),
            "content": { JSON: { "schema": schema("SessionMethods") } },
        }),
    );
    described(
        "gateway.sessionMethods",
        "Says how a session can be opened.",
        "`issuers` are those of `SIGN_IN_ISSUERS`; a browser signs in there by going to `href`.",
        &responses,
    )
}

fn start() -> Value {
    let own = [ProblemKind::InvalidRequest, ProblemKind::NotFound];
    let mut responses = problems::responses(&[PLAIN, &own].concat(), &[]);
    responses.insert(
        "302".to_owned(),
        redirect("To the issuer's authorization endpoint."),
    );
    let mut start = described(
        "gateway.startSignIn",
        "Sends a browser to an issuer, where somebody signs in.",
        "By authorization code with PKCE. A sign-in has to be concluded within ten minutes, in the browser \
        that has begun it.",
        &responses,
    );
    add_parameter(&mut start, "issuer", true, "The issuer's name.");
    add_parameter(
        &mut start,
        "return",
        false,
        "The path of the page that it leads back to; `/` unless given.",
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
    let mut responses = problems::responses(&[PLAIN, &own].concat(), &[]);
    responses.insert("303".to_owned(), concluded());
    let mut callback = described(
        "gateway.concludeSignIn",
        "Opens a session for somebody who comes back from an issuer.",
        "What issuers redirect to, once for each sign-in; the session that the browser had when it began ends. \
        Where it fails, a request whose `Accept` has `text/html` is led to `/?sign-in-failed=<kind>`, with the \
        last segment of the problem's `type`, and any other gets the problem. Other parameters are ignored.",
        &responses,
    );
    for (name, doc) in [
        ("state", "What tells the sign-in."),
        ("code", "What is exchanged for an ID token."),
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
        "description": "Where to.",
        "required": true,
        "schema": { "type": "string", "format": "uri-reference" },
    });
    json!({ "description": description, "headers": with_common(headers) })
}

/// Returns the redirect to the page at the end of a sign-in. It sets a cookie only if the sign-in
/// succeeded.
fn concluded() -> Value {
    let mut concluded = redirect(
        "Signed in: to the page, with the session's cookie. Or not signed in: to the page, without one.",
    );
    concluded["headers"]["Set-Cookie"]["required"] = false.into();
    concluded
}

fn sets_cookie() -> Value {
    json!({ "Set-Cookie": {
        "description": "For the browser alone: `Secure`, `HttpOnly`, and for this host.",
        "required": true,
        "schema": { "type": "string" },
    } })
}

fn with_common(headers: Value) -> Map<String, Value> {
    let mut all = Fields::common().described();
    if let Value::Object(headers) = headers {
        all.extend(headers);
    }
    all
}
