//! The health report.

use quillgate_worker::analytics::health::{OrganizationBudgets, OrganizationHealth};
use quillgate_worker::app::health::Health;
use quillgate_worker::budget::health::BudgetHealth;
use quillgate_worker::jobs::health::{ProjectBudgets, ProjectHealth};
use quillgate_worker::json::to_text;
use quillgate_worker::upstream::breaker::State;

fn budget(left: u32, blocked_until: Option<u64>) -> BudgetHealth {
    BudgetHealth {
        limit: 100,
        left,
        blocked_until,
    }
}

fn organization(breaker: State) -> OrganizationHealth {
    OrganizationHealth {
        breaker,
        budgets: OrganizationBudgets {
            analytics: budget(7, None),
            create_deployment: budget(10, None),
            create_preview: budget(5, None),
        },
        cached_pages: 3,
    }
}

fn project(breaker: State) -> ProjectHealth {
    ProjectHealth {
        breaker,
        budgets: ProjectBudgets {
            create_job: budget(100, None),
            send_message: budget(0, Some(1_750_000_000_000)),
        },
        watchers: 2,
        webhooks_waiting: 1,
        alarms: 5,
    }
}

#[test]
fn health_report_has_a_fixed_property_order() {
    let issuers = vec!["https://issuer.example"];
    let health = Health::new(organization(State::Closed), None, issuers.clone());
    let expected = r#"{"status":"ok","organization":{"breaker":"closed","budgets":{"analytics":{"limit":100,"left":7,"blockedUntil":null},"create-deployment":{"limit":100,"left":10,"blockedUntil":null},"create-preview":{"limit":100,"left":5,"blockedUntil":null}},"cachedPages":3},"trustedIssuers":["https://issuer.example"]}"#;
    assert_eq!(to_text(&health), expected);
    let health = Health::new(
        organization(State::Closed),
        Some(project(State::Open)),
        Vec::new(),
    );
    let expected = r#"{"status":"degraded","organization":{"breaker":"closed","budgets":{"analytics":{"limit":100,"left":7,"blockedUntil":null},"create-deployment":{"limit":100,"left":10,"blockedUntil":null},"create-preview":{"limit":100,"left":5,"blockedUntil":null}},"cachedPages":3},"project":{"breaker":"open","budgets":{"create-job":{"limit":100,"left":100,"blockedUntil":null},"send-message":{"limit":100,"left":0,"blockedUntil":1750000000000}},"watchers":2,"webhooksWaiting":1,"alarms":5},"trustedIssuers":[]}"#;
    assert_eq!(to_text(&health), expected);
}

#[test]
fn gateway_is_degraded_while_a_breaker_is_open() {
    for (org, own, expected) in [
        (State::Closed, None, "ok"),
        (State::Open, None, "degraded"),
        (State::Closed, Some(State::Closed), "ok"),
        (State::Closed, Some(State::Open), "degraded"),
        (State::Open, Some(State::Closed), "degraded"),
    ] {
        let health = Health::new(organization(org), own.map(project), Vec::new());
        let begins = format!("{{\"status\":\"{expected}\",");
        assert!(to_text(&health).starts_with(&begins), "{org:?} {own:?}");
    }
}
