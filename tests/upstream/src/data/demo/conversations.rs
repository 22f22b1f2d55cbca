//! Conversations of readers with the assistant.

/// A conversation. A thread uses its first one, two or three turns.
pub(crate) struct Script {
    pub(crate) category: &'static str,
    /// Pages that the answers cite. The reader asks on the first of them.
    pub(crate) sources: &'static [&'static str],
    pub(crate) turns: [(&'static str, Reply); 3],
}

/// The reply of the assistant.
pub(crate) enum Reply {
    Answer(&'static str),
    Clarification(&'static str),
    /// The documentation does not cover the question.
    None,
}

use Reply::{Answer, Clarification};

/// The number is odd, so that it takes many threads until one repeats.
pub(crate) const SCRIPTS: [Script; 11] = [
    Script {
        category: "API keys",
        sources: &["/guides/api-keys/rotate", "/guides/authentication"],
        turns: [
            (
                "How do I rotate an API key without downtime?",
                Answer(
                    "Create a second key under **Settings > API keys**, deploy it, then revoke the first one. Both work in the meantime.",
                ),
            ),
            (
                "Can I do that through the API?",
                Answer(
                    "Yes. Call `POST /v2/api-keys`, then `DELETE /v2/api-keys/{id}` for the old key.",
                ),
            ),
            ("Can a key expire automatically?", Reply::None),
        ],
    },
    Script {
        category: "Webhooks",
        sources: &[
            "/guides/webhooks/verify-signatures",
            "/guides/webhooks/overview",
        ],
        turns: [
            (
                "Why does the signature check of my webhook fail?",
                Clarification("Does your framework parse the body before you verify it?"),
            ),
            (
                "Yes, I use express.json()",
                Answer(
                    "Use `express.raw({ type: \"application/json\" })` on that route: the signature covers the raw bytes.",
                ),
            ),
            (
                "That worked, thanks. How do I test it locally?",
                Answer("Run `acme listen --forward-to localhost:3000`."),
            ),
        ],
    },
    Script {
        category: "Payments",
        sources: &["/api-reference/refunds/create"],
        turns: [
            ("Can I refund only part of a payment?", Reply::None),
            (
                "Then how do I refund a whole payment?",
                Answer("Send `POST /v2/refunds` with the id of the payment."),
            ),
            (
                "How long does a refund take?",
                Answer("Five to ten business days, depending on the bank."),
            ),
        ],
    },
    Script {
        category: "Rate limits",
        sources: &["/api-reference/rate-limits", "/api-reference/errors"],
        turns: [
            (
                "What happens when I exceed the rate limit?",
                Answer(
                    "The API responds with 429. Wait for the seconds in `Retry-After` before the next request.",
                ),
            ),
            (
                "Do test requests count?",
                Answer("No. The sandbox has a separate limit of 25 requests per second."),
            ),
            ("Can we buy a higher limit?", Reply::None),
        ],
    },
    Script {
        category: "SDKs",
        sources: &["/sdks/typescript/install", "/quickstart"],
        turns: [
            (
                "Does the TypeScript SDK run on Cloudflare Workers?",
                Reply::None,
            ),
            (
                "And on Node.js 20?",
                Answer(
                    "Yes. The SDK supports Node.js 20 and later. Install it with `npm install @acme/sdk`.",
                ),
            ),
            (
                "Does it retry failed requests?",
                Answer("Twice by default. Set `maxRetries` to change that."),
            ),
        ],
    },
    Script {
        category: "Payments",
        sources: &["/guides/idempotency"],
        turns: [
            (
                "How do I avoid charging a customer twice?",
                Answer(
                    "Send the same `Idempotency-Key` with every retry. The API then returns the first response.",
                ),
            ),
            ("How long is a key remembered?", Answer("24 hours.")),
            (
                "Does that work for refunds too?",
                Answer("Yes, for every `POST` request."),
            ),
        ],
    },
    Script {
        category: "Subscriptions",
        sources: &[
            "/guides/subscriptions/proration",
            "/guides/subscriptions/overview",
        ],
        turns: [
            (
                "How is an upgrade in the middle of a month billed?",
                Answer(
                    "The customer pays the difference for the remaining days. See the table under *Proration*.",
                ),
            ),
            (
                "Can I turn that off?",
                Answer("Yes, with `proration: \"none\"`."),
            ),
            ("Is there an example with taxes?", Reply::None),
        ],
    },
    Script {
        category: "Security",
        sources: &["/guides/security/single-sign-on", "/guides/security/roles"],
        turns: [
            (
                "How do I set up single sign-on with Okta?",
                Clarification("Do you want to use SAML or OpenID Connect?"),
            ),
            (
                "SAML please",
                Answer(
                    "Copy the sign-on URL and the entity ID from **Settings > Security** to a new SAML application in Okta.",
                ),
            ),
            ("Are users removed automatically?", Reply::None),
        ],
    },
    Script {
        category: "Migration",
        sources: &["/guides/migrate/v1-to-v2", "/changelog"],
        turns: [
            (
                "When will version 1 of the API be switched off?",
                Answer("On 30 June 2027. The migration guide lists all changes."),
            ),
            (
                "Do my API keys still work?",
                Answer("Yes. Both versions accept the same keys."),
            ),
            (
                "Do webhook payloads change?",
                Answer("Amounts become strings. Everything else stays the same."),
            ),
        ],
    },
    Script {
        category: "Integrations",
        sources: &["/integrations/slack"],
        turns: [
            (
                "Can I get a Slack message for failed payments?",
                Answer(
                    "Yes. Connect Slack under **Integrations** and choose the event `payment.failed`.",
                ),
            ),
            ("Can I change the text of the message?", Reply::None),
            (
                "Which permissions does the app need?",
                Answer("Only `chat:write`, for the channel that you choose."),
            ),
        ],
    },
    Script {
        category: "Testing",
        sources: &["/guides/testing/test-cards", "/guides/testing/sandbox"],
        turns: [
            (
                "Which card number simulates a declined payment?",
                Answer("Use `4000 0000 0000 0002` with any future date."),
            ),
            (
                "And one that needs 3-D Secure?",
                Answer("Use `4000 0000 0000 3220`."),
            ),
            (
                "Is sandbox data deleted?",
                Answer("After 90 days without a request."),
            ),
        ],
    },
];
