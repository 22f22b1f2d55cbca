//! Remarks of readers about pages.

/// A comment about a page.
pub(crate) struct Remark {
    pub(crate) kind: Kind,
    pub(crate) path: &'static str,
    pub(crate) comment: &'static str,
}

/// The source of a remark, with the fields of that source.
pub(crate) enum Kind {
    Helpful,
    NotHelpful,
    /// Code, its filename and its language.
    Snippet(&'static str, Option<&'static str>, &'static str),
    Agent,
}

const fn remark(kind: Kind, path: &'static str, comment: &'static str) -> Remark {
    Remark {
        kind,
        path,
        comment,
    }
}

const VERIFY_PYTHON: &str = "acme.Webhook.verify(request.body, signature, secret)";
const LIST_CUSTOMERS: &str = "for await (const customer of acme.customers.list({ limit: 100 })) {}";
const INSTALL: &str = "npm install @acme/sdk";
const CURL: &str = "curl https://api.acme.example/v2/payments -H \"Idempotency-Key: $KEY\"";

/// Remarks in the order of their dates. They repeat after the last one.
pub(crate) const REMARKS: [Remark; 36] = [
    remark(
        Kind::Helpful,
        "/quickstart",
        "Up and running in ten minutes, thank you!",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/webhooks/verify-signatures",
        "The example verifies the parsed body. It only works with the raw body.",
    ),
    remark(
        Kind::Snippet(VERIFY_PYTHON, Some("webhook.py"), "python"),
        "/guides/webhooks/verify-signatures",
        "Webhook.verify was renamed to verify_signature in 4.0",
    ),
    remark(
        Kind::Agent,
        "/api-reference/rate-limits",
        "The page gives 100 requests per minute, the API reference says 120.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/pagination",
        "How long is a cursor valid?",
    ),
    remark(
        Kind::Helpful,
        "/guides/idempotency",
        "Best explanation of idempotency keys I have read.",
    ),
    remark(
        Kind::NotHelpful,
        "/api-reference/refunds/create",
        "Can I refund only part of a payment?",
    ),
    remark(
        Kind::Snippet(LIST_CUSTOMERS, Some("customers.ts"), "typescript"),
        "/api-reference/customers/list",
        "Please show how to stop after the first page",
    ),
    remark(
        Kind::Helpful,
        "/guides/testing/test-cards",
        "The table of test cards saved my day.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/security/single-sign-on",
        "Step 4 asks for an entity ID, but the dashboard calls it audience.",
    ),
    remark(
        Kind::Agent,
        "/sdks/typescript/install",
        "The minimum Node.js version is missing from this page.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/migrate/v1-to-v2",
        "Does the migration change my webhook URLs?",
    ),
    remark(
        Kind::Helpful,
        "/api-reference/errors",
        "Love that every error lists its cause.",
    ),
    remark(
        Kind::Snippet(INSTALL, None, "bash"),
        "/sdks/typescript/install",
        "A line for pnpm and Bun would help",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/taxes/configure",
        "The screenshots show the old dashboard.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/subscriptions/proration",
        "I need a worked example with numbers.",
    ),
    remark(
        Kind::Helpful,
        "/guides/webhooks/retries",
        "Clear, and the retry table answers everything.",
    ),
    remark(
        Kind::Agent,
        "/guides/webhooks/overview",
        "The link to the event catalogue returns a 404.",
    ),
    remark(
        Kind::NotHelpful,
        "/sdks/python/install",
        "Fails on Python 3.14 with a wheel error.",
    ),
    remark(
        Kind::Helpful,
        "/ai/mcp-server",
        "Connected our editor in two minutes. Great.",
    ),
    remark(
        Kind::Snippet(CURL, None, "bash"),
        "/guides/idempotency",
        "KEY is never set in this example",
    ),
    remark(
        Kind::NotHelpful,
        "/integrations/shopify",
        "Which Shopify plans are supported?",
    ),
    remark(
        Kind::Helpful,
        "/guides/checkout/embed",
        "Copied, pasted, works.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/disputes/respond",
        "What is the deadline for evidence?",
    ),
    remark(Kind::Helpful, "/guides/pagination", "Short and complete."),
    remark(
        Kind::NotHelpful,
        "/api-reference/payments/create",
        "Please list the currencies without decimals.",
    ),
    remark(
        Kind::Agent,
        "/guides/currencies",
        "HUF appears twice in the table.",
    ),
    remark(
        Kind::Helpful,
        "/guides/api-keys/rotate",
        "Rotated all our keys without downtime.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/payouts/schedule",
        "Are payouts made on bank holidays?",
    ),
    remark(
        Kind::Snippet("acme listen --forward-to localhost:3000", None, "bash"),
        "/guides/webhooks/overview",
        "The command needs version 2.3 or later",
    ),
    remark(
        Kind::Helpful,
        "/changelog",
        "Thanks for marking the breaking changes.",
    ),
    remark(
        Kind::NotHelpful,
        "/integrations/zapier",
        "The trigger for refunds is not documented.",
    ),
    remark(
        Kind::Helpful,
        "/guides/testing/sandbox",
        "Exactly what I needed.",
    ),
    remark(
        Kind::NotHelpful,
        "/guides/security/roles",
        "Which role can see API keys?",
    ),
    remark(
        Kind::Agent,
        "/api-reference/authentication",
        "The curl example uses a header that v2 no longer accepts.",
    ),
    remark(
        Kind::Helpful,
        "/guides/invoices/overview",
        "The diagram of the invoice states is great.",
    ),
];
