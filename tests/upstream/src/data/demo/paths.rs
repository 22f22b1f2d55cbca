//! Paths of pages, most viewed first.

use super::super::paths::{ACTIONS, LANGUAGES, RESOURCES, TASKS, TOPICS, mixed};

/// The most viewed pages. Feedback, searches and conversations refer to them.
const FIRST_PATHS: [&str; 50] = [
    "/",
    "/quickstart",
    "/api-reference/introduction",
    "/guides/authentication",
    "/api-reference/authentication",
    "/guides/webhooks/overview",
    "/sdks/python/install",
    "/sdks/typescript/install",
    "/api-reference/payments/create",
    "/api-reference/errors",
    "/guides/webhooks/verify-signatures",
    "/guides/api-keys/rotate",
    "/guides/idempotency",
    "/guides/pagination",
    "/api-reference/rate-limits",
    "/changelog",
    "/guides/testing/sandbox",
    "/api-reference/customers/list",
    "/guides/subscriptions/overview",
    "/guides/webhooks/retries",
    "/api-reference/refunds/create",
    "/sdks/go/install",
    "/guides/migrate/v1-to-v2",
    "/integrations/slack",
    "/guides/invoices/overview",
    "/guides/subscriptions/proration",
    "/api-reference/payments/list",
    "/api-reference/webhooks/create",
    "/guides/testing/test-cards",
    "/integrations/zapier",
    "/guides/security/single-sign-on",
    "/guides/taxes/configure",
    "/api-reference/customers/create",
    "/sdks/ruby/install",
    "/guides/disputes/respond",
    "/integrations/shopify",
    "/guides/payouts/schedule",
    "/guides/security/roles",
    "/api-reference/invoices/create",
    "/guides/currencies",
    "/ai/mcp-server",
    "/ai/llms-txt",
    "/guides/checkout/customize",
    "/guides/checkout/embed",
    "/sdks/java/install",
    "/guides/billing/change-plan",
    "/guides/security/audit-log",
    "/guides/exports/csv",
    "/help/contact",
    "/status",
];

/// An endless sequence of unique paths.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    FIRST_PATHS
        .into_iter()
        .map(str::to_owned)
        .chain((0..).flat_map(round))
}

/// One path in each section.
fn round(number: usize) -> [String; 4] {
    // A prime stride varies both parts of neighbouring paths.
    let (guide, topic, task) = mixed(number * 19, &TOPICS, &TASKS);
    let (api, resource, action) = mixed(number * 19, &RESOURCES, &ACTIONS);
    let (sdk, language, sdk_topic) = mixed(number * 19, &LANGUAGES, &TOPICS);
    [
        format!("{guide}/guides/{topic}/{task}"),
        format!("{api}/api-reference/{resource}/{action}"),
        format!("{sdk}/sdks/{language}/{sdk_topic}"),
        format!("/changelog/release-{}", 400 + number),
    ]
}
