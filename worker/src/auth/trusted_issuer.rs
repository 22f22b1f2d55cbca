use std::rc::Rc;

use quillgate::Scope;
use serde_json::{Map, Value};

use crate::auth::caller::{Grant, ISSUER, OPERATE, Quota};
use crate::auth::jwt::take_text;
use crate::hash::fingerprint;
use crate::http::url::is_secure_url;
use crate::json;

const MAX_ISSUER_BYTES: usize = 512;

#[derive(Debug, Clone, PartialEq)]
pub struct TrustedIssuer {
    /// The exact `iss`.
    pub issuer: String,
    /// Of access tokens. The audience of ID tokens is the client id.
    pub audiences: Vec<String>,
    pub jwks: String,
    pub source: Source,
    pub rules: Vec<Rule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Also a request that opens a session, or a sign-in.
    Bearer,
    /// `Cf-Access-Jwt-Assertion`.
    AccessAssertion,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    claims: ExpectedClaims,
    pub(super) grant: Grant,
    /// Of each caller.
    pub(super) quota: Quota,
    /// Of all callers of the rule together.
    pub(super) ceiling: Quota,
    /// Identify a caller instead of `sub`.
    caller: Vec<String>,
    /// The key of `ceiling` in the budget: no caller's key begins with two spaces.
    pub(super) name: String,
}

/// At least one claim, each with its accepted values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExpectedClaims(Vec<(String, Vec<Value>)>);

impl Rule {
    pub(super) fn admits(&self, claims: &Map<String, Value>) -> bool {
        let has = |name: &String| claims.get(name).is_some_and(is_plain);
        self.claims.match_token(claims) && self.caller.iter().all(has)
    }

    /// As JSON. `None` if `sub` identifies the caller.
    pub(super) fn caller_claims(&self, claims: &Map<String, Value>) -> Option<String> {
        if self.caller.is_empty() {
            return None;
        }
        // The claims are inserted one by one, because `collect` would add 3 kB of sorting code.
        let mut own = Map::new();
        for name in &self.caller {
            if let Some(value) = claims.get(name) {
                own.insert(name.clone(), value.clone());
            }
        }
        Some(json::to_text(&Value::Object(own)))
    }
}

impl ExpectedClaims {
    pub fn one(name: &str, value: String) -> Self {
        Self(vec![(name.to_owned(), vec![Value::String(value)])])
    }

    /// `None` for values other than strings, integers, booleans and lists of these, and for an
    /// empty object, which would match every token.
    pub fn read(claims: Map<String, Value>) -> Option<Self> {
        let read_claim = |(name, value)| {
            let values = match value {
                Value::Array(values) => values,
                one => vec![one],
            };
            (!values.is_empty() && values.iter().all(is_plain)).then_some((name, values))
        };
        let claims: Option<Vec<_>> = claims.into_iter().map(read_claim).collect();
        claims.filter(|claims| !claims.is_empty()).map(Self)
    }

    /// One element of a list suffices.
    pub fn match_token(&self, claims: &Map<String, Value>) -> bool {
        self.0
            .iter()
            .all(|(name, expected)| match claims.get(name) {
                Some(Value::Array(held)) => held.iter().any(|one| expected.contains(one)),
                Some(held) => expected.contains(held),
                None => false,
            })
    }
}

pub(super) fn read_one_or_more(value: Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text]),
        list => serde_json::from_value(list).ok(),
    }
}

/// Rejects unknown and duplicate properties, so that a misspelt rule cannot silently grant or deny
/// anything. An error is the violated rule, worded to follow the variable's name.
pub fn read_trusted_issuers(json: &str) -> Result<Vec<Rc<TrustedIssuer>>, &'static str> {
    let Some(Value::Array(items)) = json::parse(json.as_bytes()) else {
        return Err("must be a JSON list of issuers without duplicate members");
    };
    let mut issuers: Vec<Rc<TrustedIssuer>> = Vec::new();
    for item in items {
        let issuer = read_issuer(item)?;
        let same = |other: &Rc<TrustedIssuer>| {
            other.issuer == issuer.issuer && other.source == issuer.source
        };
        if issuers.iter().any(same) {
            return Err("must have each issuer once for each header");
        }
        issuers.push(Rc::new(issuer));
    }
    Ok(issuers)
}

fn read_issuer(item: Value) -> Result<TrustedIssuer, &'static str> {
    const MEMBERS: &str = "must have issuers with the members issuer, audience, jwks, rules and optionally header, and no others";
    let Value::Object(mut members) = item else {
        return Err(MEMBERS);
    };
    let name = take_text(&mut members, "issuer").ok_or(MEMBERS)?;
    let audience = members.remove("audience").ok_or(MEMBERS)?;
    let jwks = take_text(&mut members, "jwks").ok_or(MEMBERS)?;
    let header = members.remove("header");
    let Some(Value::Array(rules)) = members.remove("rules") else {
        return Err(MEMBERS);
    };
    if !members.is_empty() {
        return Err(MEMBERS);
    }
    if !is_issuer(&name) {
        return Err(
            "must name each issuer by its exact iss, which has no spaces and is not quillgate",
        );
    }
    let audiences = read_one_or_more(audience).filter(|audiences| {
        !audiences.is_empty() && audiences.iter().all(|audience| !audience.is_empty())
    });
    if !is_secure_url(&jwks) {
        return Err(
            "must have in jwks an https URL, or http on this machine, without credentials or fragment",
        );
    }
    Ok(TrustedIssuer {
        rules: rules
            .into_iter()
            .map(|rule| read_rule(rule, &name))
            .collect::<Result<_, _>>()?,
        issuer: name,
        audiences: audiences.ok_or("must have in audience a string or a list of strings")?,
        jwks,
        source: read_source(header)?,
    })
}

/// Excludes the gateway's own name, ignoring case, because logs would be ambiguous.
fn is_issuer(name: &str) -> bool {
    let visible = name.bytes().all(|byte| byte.is_ascii_graphic());
    let fits = (1..=MAX_ISSUER_BYTES).contains(&name.len());
    visible && fits && !name.eq_ignore_ascii_case(ISSUER)
}

fn read_source(header: Option<Value>) -> Result<Source, &'static str> {
    match header {
        None => Ok(Source::Bearer),
        Some(Value::String(name)) if name.eq_ignore_ascii_case("cf-access-jwt-assertion") => {
            Ok(Source::AccessAssertion)
        }
        Some(_) => Err("must have in header cf-access-jwt-assertion, or no header"),
    }
}

fn read_rule(item: Value, issuer: &str) -> Result<Rule, &'static str> {
    const MEMBERS: &str = "must have rules with the members claims, projects, scope and optionally quota, caller and ceiling, and no others";
    let Value::Object(mut members) = item else {
        return Err(MEMBERS);
    };
    let claims = members.remove("claims").ok_or(MEMBERS)?;
    let name = fingerprint(&[issuer, &json::to_text(&claims)]);
    let Value::Object(claims) = claims else {
        return Err(MEMBERS);
    };
    let projects = members.remove("projects").ok_or(MEMBERS)?;
    let projects = serde_json::from_value(projects).map_err(|_| MEMBERS)?;
    let scope = take_text(&mut members, "scope").ok_or(MEMBERS)?;
    let quota = members.remove("quota");
    let ceiling = members.remove("ceiling");
    let caller = members.remove("caller");
    if !members.is_empty() {
        return Err(MEMBERS);
    }
    let mut rule = Rule {
        claims: ExpectedClaims::read(claims).ok_or(
            "must have in claims at least one claim, each with a string, an integer, a boolean or a list of these",
        )?,
        grant: read_grant(projects, &scope)?,
        quota: read_quota(quota).ok_or(
            "must have in quota an integer, or an object from policies, such as create-job, to integers",
        )?,
        caller: read_caller(caller).ok_or("must have in caller a list of names of claims")?,
        ceiling: read_quota(ceiling).ok_or(
            "must have in ceiling an integer, or an object from policies, such as create-job, to integers",
        )?,
        name: format!("  {name}"),
    };
    // A workflow chooses its own subject, so it could evade a quota per subject. Without `caller`,
    // the quota therefore applies to all callers together, except for policies with a ceiling.
    if rule.caller.is_empty() {
        let together = rule.quota.without(rule.ceiling);
        rule.quota = rule.quota.without(together);
        rule.ceiling = rule.ceiling.lower(together);
    }
    Ok(rule)
}

pub(super) fn read_quota(quota: Option<Value>) -> Option<Quota> {
    quota.map_or(Some(Quota::default()), |quota| Quota::read(&quota))
}

fn read_caller(names: Option<Value>) -> Option<Vec<String>> {
    let Some(names) = names else {
        return Some(Vec::new());
    };
    let names: Vec<String> = serde_json::from_value(names).ok()?;
    (!names.is_empty() && names.iter().all(|name| !name.is_empty())).then_some(names)
}

fn is_plain(value: &Value) -> bool {
    value.is_string() || value.is_boolean() || value.is_u64() || value.is_i64()
}

/// Refuses unknown scopes, and grants that would have no effect.
fn read_grant(projects: Vec<String>, scope: &str) -> Result<Grant, &'static str> {
    let grant = Grant::new(projects, scope);
    let is_known = |scope: &String| Scope::ALL.iter().any(|known| known.as_str() == scope);
    if grant.scopes.is_empty() || !grant.scopes.iter().all(is_known) {
        return Err(
            "must have in scope some of jobs:create, jobs:read, analytics:read, analytics:conversations, deployments:create, deployments:read, automations:run and gateway:operate, separated by spaces",
        );
    }
    let operates_only = grant.scopes.iter().all(|scope| scope == OPERATE);
    if grant.projects.iter().any(String::is_empty) || (grant.projects.is_empty() && !operates_only)
    {
        return Err("must have in projects the ids of projects");
    }
    Ok(grant)
}
