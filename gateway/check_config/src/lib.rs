//! Checks the Worker's variables before a deployment, with the code that reads them in the Worker.
//!
//! The npm package `quillgate-gateway` contains this crate as WebAssembly, so its users need no Rust
//! toolchain.

mod ineffective;

use std::cell::RefCell;
use std::collections::BTreeMap;

use quillgate_worker::app::config::Config;
use quillgate_worker::auth::sign_in_issuer::UNTRUSTED;
use quillgate_worker::variable::VariableError;
use serde::Serialize;
use serde_json::{Map, Value};

/// Maximum size of a variable or secret, in bytes. Cloudflare's limit is 5 kB.
const MAX_VALUE_BYTES: usize = 5_000;

/// Valid values that replace missing secrets, so that the check can continue to the other
/// variables. A missing secret may be set at Cloudflare, with `wrangler secret put`.
static PLACEHOLDERS: [(&str, &str); 3] = [
    ("ADMIN_API_KEY", "mint_stand_in"),
    (
        "ACCESS_TOKEN_SECRET",
        "a stand-in that is long enough to sign",
    ),
    (
        "WEBHOOK_SECRET",
        "whsec_YSBzdGFuZC1pbiBmb3IgYSB3ZWJob29rIHNlY3JldA==",
    ),
];

/// A problem with a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The variable's name.
    pub name: String,
    /// Completes a sentence that starts with the name. Never contains the value.
    pub message: String,
}

/// The result of a check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// At most one problem per variable.
    pub problems: Vec<Problem>,
    /// Required secrets that the input lacks. They may be set at Cloudflare.
    pub unchecked: Vec<String>,
}

impl Report {
    fn add(&mut self, name: &str, message: impl Into<String>) {
        if !self.has_problem(name) {
            self.problems.push(Problem {
                name: name.to_owned(),
                message: message.into(),
            });
        }
    }

    fn has_problem(&self, name: &str) -> bool {
        self.problems.iter().any(|problem| problem.name == name)
    }
}

/// Checks variables and secrets, given as a JSON object.
///
/// A missing secret is not a problem, because it may be set at Cloudflare: see
/// [`Report::unchecked`].
///
/// # Errors
/// Returns a message if `json` is not a JSON object.
///
/// # Example
/// ```
/// use quillgate_check_config::check;
///
/// let report = check(r#"{"JOB_POLL_SECONDS":"0"}"#).unwrap();
/// assert_eq!(report.problems[0].name, "JOB_POLL_SECONDS");
/// assert_eq!(report.problems[0].message, "must be an integer from 1 to 300");
/// ```
pub fn check(json: &str) -> Result<Report, &'static str> {
    let variables: Map<String, Value> =
        serde_json::from_str(json).map_err(|_| "the variables are not a JSON object")?;
    let mut report = Report::default();
    let mut texts = BTreeMap::new();
    for (name, value) in &variables {
        match value.as_str() {
            None => report.add(
                name,
                "must be a quoted string; write a list or an object as JSON in quotes",
            ),
            Some(text) if text.len() > MAX_VALUE_BYTES => {
                report.add(name, format!("must have at most {MAX_VALUE_BYTES} bytes"));
            }
            Some(text) => {
                texts.insert(name.as_str(), text);
            }
        }
    }
    let known = find_problems(&mut texts, &mut report);
    for name in texts.keys() {
        if let Some(message) = ineffective::find_ineffective(name, &texts, &report) {
            report.add(name, message);
        }
    }
    for name in variables.keys().filter(|name| !known.contains(name)) {
        let message = "is not a variable of the Worker";
        match find_closest(name, &known) {
            Some(other) => report.add(name, format!("{message}: is it {other}?")),
            None => report.add(name, message),
        }
    }
    Ok(report)
}

/// Finds every problem in the configuration. Reading stops at the first problem, so this removes
/// the rejected value, or adds a placeholder for a missing one, and reads again until reading
/// succeeds.
///
/// Returns the names of all variables that the Worker knows.
fn find_problems(texts: &mut BTreeMap<&str, &str>, report: &mut Report) -> Vec<String> {
    let mut replaced = Vec::new();
    loop {
        let names = RefCell::new(Vec::new());
        let read = Config::read(|name| {
            names.borrow_mut().push(name.to_owned());
            texts.get(name).map(|&text| text.to_owned())
        });
        let Err(VariableError { variable, rule }) = read else {
            return names.into_inner();
        };
        if texts.remove(variable).is_some() {
            // Its issuers cannot be compared with a list that has another problem.
            let is_unknown_issuer = rule == UNTRUSTED && report.has_problem("TRUSTED_ISSUERS");
            if !is_unknown_issuer {
                report.add(variable, rule);
            }
            continue;
        }
        let placeholder = PLACEHOLDERS.iter().find(|(name, ..)| *name == variable);
        let Some(&(name, value)) = placeholder.filter(|_| !replaced.contains(&variable)) else {
            report.add(variable, rule);
            return names.into_inner();
        };
        if !report.has_problem(name) {
            report.unchecked.push(name.to_owned());
        }
        texts.insert(name, value);
        replaced.push(name);
    }
}

/// Returns the most similar known name, unless more than two letters differ.
fn find_closest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let distances = known.iter().map(|other| (count_edits(name, other), other));
    let (distance, other) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= 2).then_some(other.as_str())
}

/// Returns the Levenshtein distance between two strings, in bytes.
fn count_edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, letter) in from.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(target_arch = "wasm32")]
mod wasm {
    use wasm_bindgen::prelude::wasm_bindgen;

    /// Runs [`super::check`] and returns its report as JSON.
    ///
    /// Throws a string if `json` is not a JSON object.
    #[wasm_bindgen(js_name = checkVariables)]
    pub fn check_variables(json: &str) -> Result<String, String> {
        let report = super::check(json)?;
        serde_json::to_string(&report).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_VALUE_BYTES, Problem, check};
    use serde_json::{Value, json};

    const NONE: [Problem; 0] = [];

    fn with(name: &str, value: &Value) -> Vec<Problem> {
        let mut variables = json!({
            "ADMIN_API_KEY": "mint_hunter2",
            "ACCESS_TOKEN_SECRET": "hunter2-hunter2-hunter2-hunter2-hunter2",
        });
        variables[name] = value.clone();
        let report = check(&variables.to_string()).expect("an object");
        assert_eq!(report.unchecked, Vec::<String>::new());
        report.problems
    }

    #[test]
    fn valid_variables_have_no_problem() {
        assert_eq!(with("ALLOWED_ORIGINS", &json!("")), NONE);
        assert_eq!(with("REVOKED_TOKENS_4", &json!("[\"a\"]")), NONE);
    }

    #[test]
    fn a_typo_is_reported_without_its_value() {
        let long = "x".repeat(MAX_VALUE_BYTES + 1);
        for (name, value, words) in [
            ("TRUSTED_ISSUERS", json!("[hunter2]"), "must be a JSON list"),
            (
                "REVOKED_TOKENS_2",
                json!("[{\"jti\":\"hunter2\"}"),
                "must be a JSON list",
            ),
            (
                "REVOKED_TOKENS_5",
                json!("[]"),
                "is not a variable of the Worker: is it REVOKED_TOKENS_2?",
            ),
            (
                "TRUSTED_ISSUER",
                json!("[]"),
                "is not a variable of the Worker: is it TRUSTED_ISSUERS?",
            ),
            (
                "HUNTER",
                json!("hunter2"),
                "is not a variable of the Worker",
            ),
            (
                "CREATE_LIMIT_PER_HOUR",
                json!(5),
                "must be a quoted string; write a list or an object as JSON in quotes",
            ),
            ("ADMIN_API_KEY", json!("sk-hunter2"), "must be an admin key"),
            ("ADMIN_API_KEY", json!(""), "is not set"),
            (
                "ACCESS_TOKEN_SECRET",
                json!("hunter2"),
                "must be at least 32 bytes",
            ),
            (
                "REVOKED_TOKENS",
                json!(long),
                "must have at most 5000 bytes",
            ),
        ] {
            let problems = with(name, &value);
            let [problem] = problems.as_slice() else {
                panic!("{name}: {problems:?}");
            };
            assert_eq!(problem.name, name);
            assert!(problem.message.starts_with(words), "{problem:?}");
            assert!(!problem.message.contains("hunter2"), "{problem:?}");
        }
        assert!(check("[]").is_err());
    }

    #[test]
    fn a_valid_rule_that_matches_no_token_is_a_problem() {
        let github = "https://token.actions.githubusercontent.com";
        let enterprise = "https://github.hunter2.example/_services/token";
        let named = "https://token.actions.githubusercontent.com/hunter2";
        let hosted = "https://token.actions.hunter2.ghe.com";
        let issuers = |issuer: &str, claims: Value| {
            let rule = json!({ "claims": claims, "projects": ["acme"], "scope": "jobs:read" });
            let trusted = json!([{
                "issuer": issuer,
                "audience": "quillgate",
                "jwks": "https://keys.example/jwks",
                "rules": [rule],
            }]);
            with("TRUSTED_ISSUERS", &json!(trusted.to_string()))
        };
        let revoked = |items: Value| with("REVOKED_TOKENS_2", &json!(items.to_string()));
        assert_eq!(
            issuers(github, json!({ "repository_id": ["1", "2"] })),
            NONE
        );
        assert_eq!(
            issuers("https://other.example", json!({ "id": 1, "ref": "*" })),
            NONE
        );
        assert_eq!(
            revoked(json!(["eyJ", "a.b", { "sub": "a", "before": 1_766_000_000 }])),
            NONE
        );
        for (problems, words) in [
            (issuers(github, json!({ "repository_id": 1 })), "in quotes"),
            (
                issuers(enterprise, json!({ "repository_id": ["2", 1] })),
                "in quotes",
            ),
            (issuers(named, json!({ "id": 1 })), "in quotes"),
            (issuers(hosted, json!({ "id": 1 })), "in quotes"),
            (
                issuers(github, json!({ "ref": "refs/heads/hunter2/*" })),
                "must match exactly",
            ),
            (
                revoked(json!(["eyJhbGciOiJIUzI1NiJ9.hunter2.hunter2"])),
                "its id (jti)",
            ),
            (
                revoked(json!([{ "jti": "eyJhbGciOiJIUzI1NiJ9.hunter2" }])),
                "its id (jti)",
            ),
            (
                revoked(json!([{ "sub": "a", "before": 1_766_000_000_000_u64 }])),
                "in seconds",
            ),
            (
                revoked(json!([{ "iss": "https://hunter2.example", "sub": "a" }])),
                "does not list",
            ),
        ] {
            let [problem] = problems.as_slice() else {
                panic!("{words}: {problems:?}");
            };
            assert!(problem.message.contains(words), "{problem:?}");
            assert!(!problem.message.contains("hunter2"), "{problem:?}");
        }
    }

    #[test]
    fn a_sign_in_issuer_must_be_trusted_and_its_secret_is_not_printed() {
        let issuers = json!([{
            "name": "Acme", "issuer": "https://login.example", "clientId": "page",
            "authorizationEndpoint": "https://login.example/authorize",
            "tokenEndpoint": "https://login.example/token",
        }]);
        let trusted = json!([{
            "issuer": "https://login.example", "audience": "quillgate",
            "jwks": "https://login.example/jwks",
            "rules": [{ "claims": { "a": "b" }, "projects": ["acme"], "scope": "jobs:read" }],
        }]);
        let mut variables = json!({
            "SIGN_IN_ISSUERS": issuers.to_string(),
            "SIGN_IN_CLIENT_SECRET": "hunter2",
            "TRUSTED_ISSUERS": trusted.to_string(),
        });
        let names = |variables: &Value| {
            let problems = check(&variables.to_string()).expect("an object").problems;
            let text = format!("{problems:?}");
            assert!(!text.contains("hunter2"), "{text}");
            let names = problems.into_iter().map(|problem| problem.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&variables), Vec::<String>::new());
        variables["SIGN_IN_CLIENT_SECRET"] = json!(r#"{"Acme":"hunter2"}"#);
        assert_eq!(names(&variables), Vec::<String>::new());
        variables["SIGN_IN_CLIENT_SECRET"] = json!(r#"{"Acme":"hunter2","Old":"hunter2"}"#);
        assert_eq!(names(&variables), ["SIGN_IN_CLIENT_SECRET"]);
        variables["REVOKED_TOKENS"] = json!(r#"[{"iss":"https://login.example","sub":"a"}]"#);
        variables["TRUSTED_ISSUERS"] = json!("[]");
        assert_eq!(names(&variables), ["SIGN_IN_ISSUERS", "REVOKED_TOKENS"]);
        variables["TRUSTED_ISSUERS"] = json!([]);
        assert_eq!(names(&variables), ["TRUSTED_ISSUERS"]);
        let blank = json!({ "SIGN_IN_CLIENT_SECRET": " " });
        assert_eq!(names(&blank), Vec::<String>::new());
        variables["SIGN_IN_ISSUER"] = json!("[]");
        assert!(names(&variables).contains(&"SIGN_IN_ISSUER".to_owned()));
    }

    #[test]
    fn all_invalid_variables_are_reported_at_once() {
        let variables = json!({
            "ADMIN_API_KEY": 7,
            "UPSTREAM_BASE_URL": "http://docs.example",
            "WEBHOOK_SECRET": "hunter2",
            "WEBHOOK_URL": "https://hooks.example/",
            "JOB_POLL_SECONDS": "soon",
            "ARCHIVE_PROJECTS": "..",
            "ARCHIVE_PROJECT": "acme",
        });
        let report = check(&variables.to_string()).expect("an object");
        let mut names: Vec<_> = report
            .problems
            .iter()
            .map(|problem| &*problem.name)
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "ADMIN_API_KEY",
                "ARCHIVE_PROJECT",
                "ARCHIVE_PROJECTS",
                "JOB_POLL_SECONDS",
                "UPSTREAM_BASE_URL",
                "WEBHOOK_SECRET",
            ]
        );
        assert_eq!(report.unchecked, ["ACCESS_TOKEN_SECRET"]);
    }

    #[test]
    fn absent_secrets_are_reported_as_unchecked() {
        let report = check("{}").expect("an object");
        assert_eq!(report.problems, NONE);
        assert_eq!(report.unchecked, ["ADMIN_API_KEY", "ACCESS_TOKEN_SECRET"]);

        let variables = json!({ "WEBHOOK_URL": "https://hooks.example/" });
        let report = check(&variables.to_string()).expect("an object");
        assert_eq!(report.problems, NONE);
        assert_eq!(
            report.unchecked,
            ["ADMIN_API_KEY", "ACCESS_TOKEN_SECRET", "WEBHOOK_SECRET"]
        );
    }

    #[test]
    fn pull_request_settings_are_checked() {
        assert_eq!(with("GITHUB_TOKEN", &json!("github_pat_x")), NONE);
        assert_eq!(with("PULL_REQUEST_STATES", &json!("off")), NONE);
        for (name, value) in [
            ("GITHUB_TOKEN", "mint_hunter2"),
            ("GITHUB_API_URL", "http://github.hunter2.example"),
            ("PULL_REQUEST_STATES", "hunter2"),
            ("PULL_REQUEST_STATE", "on"),
        ] {
            let problems = with(name, &json!(value));
            let names: Vec<_> = problems.iter().map(|problem| &*problem.name).collect();
            assert_eq!(names, [name]);
            assert!(!format!("{problems:?}").contains("hunter2"));
        }
    }
}
