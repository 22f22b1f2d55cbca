//! Generated paths of pages.

use crate::date::Day;

/// Two common paths, then paths that are difficult in CSV, in URLs or in a spreadsheet.
const FIRST_PATHS: [&str; 22] = [
    "/",
    "/quickstart",
    "/guides/über-die-api",
    "/ガイド/はじめに",
    "/guides/caf%C3%A9-menu",
    "/guides/100%-coverage",
    "/guides/tables,lists-and-columns",
    "/guides/the-\"quoted\"-page",
    "/guides/a,\"b\",c",
    "/guides/it's-complicated",
    "=SUM(1,2)",
    "=HYPERLINK(\"https://example.test\",\"open\")",
    "+1-555-0100",
    "-negative-numbers",
    "@mentions",
    "/guides/semi;colon",
    "/guides/two words",
    "/guides/lift-off-🚀",
    "/guides/العربية",
    "/guides/back\\slash",
    "/guides/decomposed-e\u{301}",
    "/search?q=webhooks&lang=en",
];

pub(crate) const TOPICS: [&str; 16] = [
    "authentication",
    "billing",
    "branding",
    "caching",
    "custom-domains",
    "deployment",
    "editor",
    "embeds",
    "exports",
    "navigation",
    "permissions",
    "previews",
    "search",
    "translations",
    "versioning",
    "webhooks",
];
pub(crate) const TASKS: [&str; 12] = [
    "overview",
    "getting-started",
    "configure",
    "migrate",
    "monitor",
    "test-locally",
    "automate",
    "best-practices",
    "limits",
    "faq",
    "examples",
    "troubleshooting",
];
pub(crate) const RESOURCES: [&str; 12] = [
    "agents",
    "analytics",
    "assets",
    "comments",
    "deployments",
    "domains",
    "events",
    "members",
    "pages",
    "projects",
    "redirects",
    "tokens",
];
pub(crate) const ACTIONS: [&str; 10] = [
    "create", "get", "list", "update", "delete", "archive", "restore", "search", "batch", "watch",
];
pub(crate) const LANGUAGES: [&str; 8] = [
    "go",
    "java",
    "javascript",
    "php",
    "python",
    "ruby",
    "rust",
    "swift",
];
const LOCALES: [&str; 6] = ["", "/es", "/fr", "/de", "/ja", "/pt-br"];

/// An endless sequence of unique paths.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    FIRST_PATHS
        .into_iter()
        .map(str::to_owned)
        .chain((0..).flat_map(round))
}

/// One path in each section.
fn round(number: usize) -> [String; 6] {
    let (guide, guide_topic, guide_task) = mixed(number, &TOPICS, &TASKS);
    let (api, resource, action) = mixed(number, &RESOURCES, &ACTIONS);
    let (sdk, language, sdk_topic) = mixed(number, &LANGUAGES, &TOPICS);
    let (integration, with, integration_task) = mixed(number, &RESOURCES, &TASKS);
    let week = i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(-7);
    let released = Day::from_epoch(20_000).plus(week);
    [
        format!("{guide}/guides/{guide_topic}/{guide_task}"),
        format!("{api}/api-reference/{resource}/{action}"),
        format!("{sdk}/sdks/{language}/{sdk_topic}"),
        format!("{integration}/integrations/{with}/{integration_task}"),
        format!("/errors/e{number:04}"),
        format!("/changelog/{released}"),
    ]
}

/// Writes the number with the two lists as its digits.
///
/// The rest of the number selects a locale or, after the last locale, an old version.
pub(crate) fn mixed(
    number: usize,
    high: &[&'static str],
    low: &[&'static str],
) -> (String, &'static str, &'static str) {
    let rest = number / low.len();
    let over = rest / high.len();
    let prefix = LOCALES
        .get(over)
        .map_or_else(|| format!("/v{over}"), |locale| (*locale).to_owned());
    (prefix, high[rest % high.len()], low[number % low.len()])
}
