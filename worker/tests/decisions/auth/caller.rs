use quillgate::RateLimitPolicy;
use quillgate_worker::auth::caller::{Caller, Grant, OPERATE, Quota};
use quillgate_worker::http::problem::Problem;
use quillgate_worker::http::problem_kind::ProblemKind;
use serde_json::{Value, json};

use crate::fixtures::{NOW, assert_accepted, claims, claims_with, summarize, token};

#[test]
fn caller_can_access_only_the_projects_of_its_token() {
    let caller = assert_accepted(&token(&claims()));
    for project in ["demo-docs", "other docs"] {
        assert!(caller.authorize(project, "jobs:read").is_ok());
    }
    for project in [
        "",
        "demo",
        "demo-docs ",
        "demo-docs2",
        "Demo-docs",
        "demo-docs,other docs",
        "*",
    ] {
        let problem = caller.authorize(project, "jobs:read").unwrap_err();
        let expected = "403 project-not-allowed";
        assert_eq!(summarize(&problem), expected, "{project:?}");
        assert_eq!(problem.headers, [], "{project:?}");
    }
}

#[test]
fn a_refused_caller_learns_its_own_projects() {
    let detail = |projects: &[&str]| {
        let caller = caller_with(&[(projects, "jobs:read"), (&["site"], "analytics:read")]);
        let refused = caller.authorize("secret", "jobs:read");
        refused.unwrap_err().detail
    };
    let only = "the access token is not for this project, only for";
    assert_eq!(detail(&["docs", "site"]), format!("{only} docs, site"));
    let many = detail(&["g", "f", "e", "d", "c", "b", "a"]);
    assert_eq!(many, format!("{only} a, b, c, d, e and 3 more"));
    let nobody = caller_with(&[(&[], "gateway:operate")]).authorize("docs", "jobs:read");
    let expected = "the access token is for no project";
    assert_eq!(nobody.unwrap_err().detail, expected);
}

#[test]
fn patterns_never_match_projects() {
    for pattern in ["*", "%", ".*", "demo-*", "", "demo-docs,secret-docs"] {
        let claims = claims_with("projects", Some(json!([pattern])));
        let caller = assert_accepted(&token(&claims));
        assert!(caller.authorize("demo-docs", "jobs:read").is_err());
    }
    let nothing = assert_accepted(&token(&claims_with("projects", Some(json!([])))));
    assert!(nothing.authorize("demo-docs", "jobs:read").is_err());
    assert!(nothing.authorize("", "jobs:read").is_err());
}

#[track_caller]
fn assert_insufficient_scope(checked: Result<(), Problem>, needed: &str, held: &str) {
    let problem = checked.unwrap_err();
    assert_eq!(summarize(&problem), "403 insufficient-scope", "{held:?}");
    let error = "error=\"insufficient_scope\"";
    let challenge = format!("Bearer realm=\"quillgate\", {error}, scope=\"{needed}\"");
    let expected = [("www-authenticate", challenge)];
    assert_eq!(problem.headers, expected, "{held:?}");
}

#[test]
fn scopes_are_compared_word_by_word() {
    let may = |scope: &str, needed: &str| {
        let caller = assert_accepted(&token(&claims_with("scope", Some(json!(scope)))));
        caller.authorize("demo-docs", needed)
    };
    for scope in ["jobs:read", "jobs:create jobs:read", " jobs:read  x "] {
        assert!(may(scope, "jobs:read").is_ok(), "{scope}");
    }
    for scope in [
        "",
        "*",
        "jobs",
        "jobs:*",
        "jobs:readx",
        "JOBS:READ",
        "jobs:create",
        "jobs:create,jobs:read",
        "jobs:read;",
    ] {
        assert_insufficient_scope(may(scope, "jobs:read"), "jobs:read", scope);
    }
}

fn caller_with(grants: &[(&[&str], &str)]) -> Caller {
    let grant = |(projects, scope): &(&[&str], &str)| {
        let projects = projects.iter().map(|&project| project.into());
        Grant::new(projects.collect(), scope)
    };
    Caller {
        issuer: "https://issuer.example".to_owned(),
        subject: "somebody".to_owned(),
        grants: grants.iter().map(grant).collect(),
        quota: Quota::default(),
        claims: None,
        shared: Vec::new(),
        expires: NOW,
    }
}

#[test]
fn one_grant_must_contain_both_the_project_and_the_scope() {
    let caller = caller_with(&[
        (&["docs"], "jobs:read"),
        (&["blog"], "jobs:create jobs:read"),
        (&["docs", "site"], "analytics:read"),
        (&[], "gateway:operate"),
    ]);
    for (project, scope, expected) in [
        ("docs", "jobs:read", None),
        ("docs", "analytics:read", None),
        ("site", "analytics:read", None),
        ("blog", "jobs:create", None),
        ("docs", "jobs:create", Some("insufficient-scope")),
        ("docs", "gateway:operate", Some("insufficient-scope")),
        ("site", "jobs:read", Some("insufficient-scope")),
        ("blog", "analytics:read", Some("insufficient-scope")),
        ("", "gateway:operate", Some("project-not-allowed")),
        ("other", "jobs:read", Some("project-not-allowed")),
    ] {
        let refused = caller.authorize(project, scope).err();
        let kind = refused.map(|problem| problem.kind.as_str());
        assert_eq!(kind, expected, "{project} {scope}");
    }
    let nobody = caller_with(&[]).authorize("docs", "jobs:read").unwrap_err();
    assert_eq!(nobody.kind, ProblemKind::ProjectNotAllowed);
}

#[test]
fn operator_needs_the_scope_and_no_project() {
    let check = |scope: &str| {
        caller_with(&[(&["docs"], "jobs:read"), (&[], scope)]).require_anywhere(OPERATE)
    };
    assert_eq!(OPERATE, "gateway:operate");
    assert!(check("jobs:read gateway:operate").is_ok());
    for scope in [
        "",
        "*",
        "gateway",
        "gateway:",
        "gateway:*",
        "GATEWAY:OPERATE",
        "gateway:operatex",
    ] {
        assert_insufficient_scope(check(scope), "gateway:operate", scope);
    }
    let claims = claims_with("scope", Some(json!("gateway:operate")));
    assert!(
        assert_accepted(&token(&claims))
            .require_anywhere(OPERATE)
            .is_ok()
    );
}

#[test]
fn quota_is_one_integer_or_one_per_policy() {
    let of = |[create, send, analytics, read]: [Option<u32>; 4]| {
        [create, send, analytics, read, None, None, None]
    };
    let two = json!({ "send-message": 0, "analytics": 3 });
    let largest = json!({ "analytics": u64::MAX, "read-jobs": 1 });
    for (quota, expected) in [
        (None, [None; 7]),
        (Some(json!({})), [None; 7]),
        (Some(json!(0)), [Some(0); 7]),
        (Some(json!(7)), [Some(7); 7]),
        (
            Some(json!({ "create-job": 10 })),
            of([Some(10), None, None, None]),
        ),
        (Some(two), of([None, Some(0), Some(3), None])),
        (Some(largest), of([None, None, Some(u32::MAX), Some(1)])),
    ] {
        let token = token(&claims_with("quota", quota.clone()));
        let own = assert_accepted(&token).quota;
        let ceilings = RateLimitPolicy::ALL.map(|policy| own.ceiling(policy));
        assert_eq!(ceilings, expected, "{quota:?}");
    }
}

#[test]
fn lower_of_two_quotas_applies_per_policy() {
    let quota = |value: Value| Quota::read(&value).unwrap();
    let other = quota(json!({ "create-job": 9, "send-message": 2, "analytics": 0 }));
    let both = quota(json!({ "create-job": 5, "analytics": 1 })).lower(other);
    let expected = json!({ "create-job": 5, "send-message": 2, "analytics": 0 });
    assert_eq!(both, quota(expected));
    assert_eq!(both.lower(Quota::default()), both);
}
