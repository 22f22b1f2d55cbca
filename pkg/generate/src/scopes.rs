//! Generates the first part of `docs/reference/scopes-and-limits.md`: scopes, routes and budgets.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use quillgate::{Operation, RateLimitPolicy, Scope};
use quillgate_worker::app::routes::{Endpoint, GATEWAY_ROUTES};
use quillgate_worker::budget::limits::Limits;

const HEAD: &str = "\
<!-- Generated up to \"## Callers\" from the declarations in src/ and worker/src/: do not edit.
     cargo run -p quillgate-generate -- scopes docs/reference/scopes-and-limits.md -->
# Scopes and limits

This page lists what each scope allows, what each budget counts, and the gateway's other limits.

## Scopes

A token contains scopes, separated by spaces, and applies to its projects only. [Let people in](../guides/access.md) shows how to
grant scopes.
";

const ROUTES: &str = "
## Routes

`GET /healthz` without parameters needs no token. With `deep` or `project`, it needs `gateway:operate`.

| request | scope | budget |
| --- | --- | --- |
";

const BUDGETS: &str = "
## Budgets

A request over a budget gets 429 [`quota-exceeded`](../problems/quota-exceeded.md). Windows slide. A token can have a lower
`quota`. A rule in `TRUSTED_ISSUERS` can have a `ceiling` for all its callers. [Budgets](../explanation/budgets.md) explains how the
gateway counts.

| name | counts | per | window in seconds | default | variable |
| --- | --- | --- | ---: | ---: | --- |
";

/// The heading of the first handwritten section.
const HANDWRITTEN: &str = "\n## Callers\n";

/// Updates the generated sections of the page.
pub fn write(path: &Path) -> io::Result<()> {
    let updated = update(&std::fs::read_to_string(path)?);
    let text = updated.ok_or_else(|| io::Error::other("has no heading \"Callers\""))?;
    std::fs::write(path, text)
}

/// Returns the page with its generated sections updated, or `None` if it has no handwritten part.
pub fn update(page: &str) -> Option<String> {
    let mut text = format!("{HEAD}\n| scope | allows |\n| --- | --- |\n");
    for scope in Scope::ALL {
        let _ = writeln!(text, "| `{}` | {} |", scope.as_str(), describe_scope(scope));
    }
    text.push_str(ROUTES);
    let mut routes: Vec<_> = list_routes().collect();
    routes.sort_by_key(|(.., scope, _)| Scope::ALL.iter().position(|own| Some(*own) == *scope));
    for (method, path, scope, policy) in routes {
        let scope = scope.map_or_else(
            || "none".to_owned(),
            |scope| format!("`{}`", scope.as_str()),
        );
        let policy = policy.map_or_else(|| "none".to_owned(), |own| format!("`{}`", own.as_str()));
        let _ = writeln!(text, "| `{method} {path}` | {scope} | {policy} |");
    }
    text.push_str(BUDGETS);
    let limits = Limits::read(&|_| None).map_err(|error| error.rule).ok();
    for policy in RateLimitPolicy::ALL {
        let (counts, per, variable) = describe_policy(policy);
        let limits = limits.expect("valid defaults");
        let _ = writeln!(
            text,
            "| `{}` | {counts} | {per} | {} | {} | `{variable}` |",
            policy.as_str(),
            limits.window(policy).0 / 1000,
            limits.limit(policy),
        );
    }
    page.find(HANDWRITTEN).map(|at| text + &page[at..])
}

type Route = (
    &'static str,
    &'static str,
    Option<Scope>,
    Option<RateLimitPolicy>,
);

fn list_routes() -> impl Iterator<Item = Route> {
    let declared = Operation::ALL.iter().map(|operation| {
        let declared = operation.declaration();
        let endpoint = Endpoint::Operation(*operation);
        (declared.method.as_str(), declared.path, endpoint)
    });
    declared
        .chain(GATEWAY_ROUTES)
        .map(|(method, path, endpoint)| {
            let (scope, policy) = find_needs(endpoint);
            (method, path, scope, policy)
        })
}

const fn find_needs(endpoint: Endpoint) -> (Option<Scope>, Option<RateLimitPolicy>) {
    let operation = match endpoint {
        Endpoint::Operation(operation) => operation,
        Endpoint::PullRequest => Operation::GetAgentJobRecord,
        Endpoint::Health | Endpoint::LiftBlock => return (Some(Scope::Operate), None),
        Endpoint::Liveness
        | Endpoint::Description
        | Endpoint::ReadSession
        | Endpoint::OpenSession
        | Endpoint::EndSession
        | Endpoint::SignInMethods
        | Endpoint::BeginSignIn
        | Endpoint::ConcludeSignIn => return (None, None),
    };
    let declared = operation.declaration();
    (Some(declared.scope), declared.policy)
}

const fn describe_scope(scope: Scope) -> &'static str {
    match scope {
        Scope::CreateJobs => "creating jobs and sending follow-ups",
        Scope::ReadJobs => "reading and watching jobs, their records and pull requests",
        Scope::ReadAnalytics => "reading and exporting reports, and the archive",
        Scope::ReadConversations => "reading readers' questions, which are personal data",
        Scope::CreateDeployments => "starting deployments and previews",
        Scope::ReadDeployments => "reading and watching deployments",
        Scope::RunAutomations => "running automations, which costs credits",
        Scope::Operate => "health, lifting blocks, backfills, deleting records",
    }
}

/// Returns what the policy counts, who shares it, and the variable of its limit.
const fn describe_policy(policy: RateLimitPolicy) -> (&'static str, &'static str, &'static str) {
    let (project, organization, caller) = ("project", "organization", "caller and project");
    match policy {
        RateLimitPolicy::CreateJob => ("jobs created", project, "CREATE_LIMIT_PER_HOUR"),
        RateLimitPolicy::SendMessage => ("follow-ups", project, "MESSAGE_LIMIT_PER_HOUR"),
        RateLimitPolicy::Analytics => (
            "analytics requests",
            organization,
            "ANALYTICS_LIMIT_PER_HOUR",
        ),
        RateLimitPolicy::ReadJobs => ("reads of jobs", caller, "READ_LIMIT_PER_HOUR"),
        RateLimitPolicy::ReadDeployments => (
            "reads of deployments",
            "caller and project; deployments by id: caller",
            "READ_LIMIT_PER_HOUR",
        ),
        RateLimitPolicy::CreateDeployment => (
            "deployments, runs of automations",
            organization,
            "DEPLOYMENT_LIMIT_PER_10_SECONDS",
        ),
        RateLimitPolicy::CreatePreview => ("previews", organization, "PREVIEW_LIMIT_PER_MINUTE"),
    }
}
