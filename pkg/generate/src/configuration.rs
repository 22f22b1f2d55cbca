//! Generates `docs/reference/configuration.md`, the variables and bindings of the gateway.

use std::fmt::Write as _;

use quillgate::documentation::join_lines;
use quillgate_worker::analytics::analytics_settings;
use quillgate_worker::app::config::{self, Config};
use quillgate_worker::auth::auth_settings;
use quillgate_worker::budget::limits;
use quillgate_worker::jobs::job_settings;
use quillgate_worker::jobs::pull_request::pull_request_settings;
use quillgate_worker::upstream::upstream_settings;
use quillgate_worker::variable::{Variable, VariableKind};

const HEAD: &str = "\
<!-- Generated from the settings in worker/src/: do not edit.
     cargo run -p quillgate-generate -- configuration docs/reference/configuration.md -->
# Configuration

This page lists the gateway's variables, secrets and bindings, with the rule that the gateway checks for each value.

Set variables in `[vars]` of `wrangler.toml`, as quoted strings, and secrets with `npx wrangler secret put NAME`. A blank value counts as
absent. A variable or a secret has at most 5 kB. If a required variable is missing or any variable is malformed, every API request
returns 500 [`misconfigured`](../problems/misconfigured.md). The problem names the variable, never its value.

[Check variables](../operate/configure.md#check-variables) before you deploy: `npx quillgate config check` uses the same rules.
";

const BINDINGS: &str = "
## Bindings

| binding | meaning |
| --- | --- |
| `PROJECT_GATE`, `ORG_GATE`, `SESSION` | the Durable Objects, already in `wrangler.toml`; required |
| `ASSETS` | the files of the page, already in `wrangler.toml` |
| `ARCHIVE` | a D1 database for [the daily archive](../guides/archive.md). Without it, the archive's routes return 501 |
| `ANALYTICS` | an Analytics Engine dataset. If it is bound, the gateway writes a data point per request |

A data point of `ANALYTICS` has these fields:

| field | content |
| --- | --- |
| index | the project, or `none` |
| blobs 1 to 4 | route, problem, cache, subject |
| doubles 1 to 3 | status, milliseconds, milliseconds at Mintlify |

Next: [set them up](../operate/configure.md), [scopes and limits](scopes-and-limits.md), [logs](../operate/logs.md).
";

/// Groups of variables: a heading, a guide, and the variables.
const GROUPS: [(&str, &str, &[Variable]); 7] = [
    (
        "Mintlify",
        "[Keys](../operate/keys.md) explains how to rotate them.",
        upstream_settings::VARIABLES,
    ),
    (
        "Access",
        "[Let people in](../guides/access.md) and [identity providers](../guides/identity-providers.md) explain these variables.",
        auth_settings::VARIABLES,
    ),
    (
        "Web pages",
        "The gateway's own page needs no entry. [Origin not allowed](../problems/origin-not-allowed.md) explains the check.",
        config::VARIABLES,
    ),
    (
        "Limits",
        "[Budgets](../explanation/budgets.md) explains how they are counted.",
        limits::VARIABLES,
    ),
    (
        "Jobs, deployments and webhooks",
        "[Webhooks](../guides/webhooks.md) and [data](../operate/data.md) explain these variables.",
        job_settings::VARIABLES,
    ),
    (
        "Pull requests",
        "[Configure](../operate/configure.md#show-the-state-of-pull-requests) shows how to create the token.",
        pull_request_settings::VARIABLES,
    ),
    (
        "Reports and the archive",
        "[Keep an archive](../guides/archive.md) explains these variables.",
        analytics_settings::VARIABLES,
    ),
];

/// Returns the content of `docs/reference/configuration.md`.
pub fn markdown() -> String {
    let mut text = String::from(HEAD);
    for (heading, guide, variables) in GROUPS {
        let _ = write!(
            text,
            "\n## {heading}\n\n{guide}\n\n\
             | variable | kind | value | default | meaning |\n| --- | --- | --- | --- | --- |\n"
        );
        for variable in variables {
            let _ = writeln!(
                text,
                "| `{}` | {} | {} | {} | {} |",
                variable.name,
                describe_kind(variable.kind),
                describe_rule(variable.name),
                describe_default(variable.default),
                join_lines(variable.meaning),
            );
        }
    }
    text + BINDINGS
}

const fn describe_kind(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::Secret => "secret",
        VariableKind::SecretOrVar => "secret or var",
        VariableKind::Var => "var",
    }
}

/// The source has numbers such as `6_000`.
fn describe_default(default: &str) -> String {
    match default.trim_matches('"') {
        words @ ("none" | "required") => words.to_owned(),
        value => format!("`{}`", value.replace('_', "")),
    }
}

/// No variable accepts this value: some accept every string, or every JSON without control characters.
const INVALID: &str = "{\"\u{7f}\":1}";

/// Returns the rule with which the gateway rejects an invalid value, without `must be`.
fn describe_rule(name: &str) -> String {
    let invalid = Config::read(|asked| match asked {
        _ if asked == name => Some(INVALID.to_owned()),
        "ADMIN_API_KEY" => Some("mint_stand_in".to_owned()),
        "ACCESS_TOKEN_SECRET" => Some("a stand-in that is long enough to sign".to_owned()),
        _ => None,
    });
    let rule = invalid.err().map_or("", |error| error.rule);
    let rule = rule.strip_prefix("must be ").unwrap_or(rule);
    let rule = rule.strip_prefix("an integer from ").unwrap_or(rule);
    let words: Vec<_> = rule.split(' ').map(mark_up).collect();
    words.join(" ")
}

/// Formats addresses and prefixes as code, and groups the digits of numbers.
fn mark_up(word: &str) -> String {
    let (word, comma) = word
        .strip_suffix(',')
        .map_or((word, ""), |word| (word, ","));
    if word.contains("://") || word.contains('_') {
        return format!("`{word}`{comma}");
    }
    match word.len().checked_sub(3) {
        Some(at @ 1..=3) if word.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!("{},{}", &word[..at], &word[at..])
        }
        _ if word == "1000000" => "1,000,000".to_owned(),
        _ => format!("{word}{comma}"),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use quillgate_worker::app::config::Config;

    use super::{GROUPS, describe_rule};

    #[test]
    fn every_variable_that_the_gateway_reads_has_a_meaning_and_a_rule() {
        let read = RefCell::new(BTreeSet::new());
        let config = Config::read(|name| {
            read.borrow_mut().insert(name.to_owned());
            match name {
                "ADMIN_API_KEY" => Some("mint_stand_in".to_owned()),
                "ACCESS_TOKEN_SECRET" => Some("a stand-in that is long enough to sign".to_owned()),
                _ => None,
            }
        });
        assert!(config.is_ok());
        let described = GROUPS.iter().flat_map(|(_, _, variables)| *variables);
        let names: BTreeSet<_> = described.map(|variable| variable.name.to_owned()).collect();
        assert_eq!(names, read.into_inner());
        for name in names {
            assert_ne!(describe_rule(&name), "", "{name}");
        }
    }
}
