mod decision;
mod read_budget;
mod window;

use quillgate::RateLimitPolicy;
use quillgate_worker::budget::{BudgetSnapshot, LimitUsage};
use quillgate_worker::http::problem::Problem;

use crate::fixtures::{NOW, header};

const HOUR: u64 = 3_600_000;
const MINUTE: u64 = 60_000;

/// Returns an unused budget of 100 requests per hour.
fn snapshot() -> BudgetSnapshot {
    BudgetSnapshot {
        policy: RateLimitPolicy::CreateJob,
        window: HOUR,
        now: NOW.0,
        blocked_until: None,
        limit: usage(100, 0, 0),
        quota: None,
        ceilings: Vec::new(),
    }
}

/// Returns the usage of a limit of `max`.
fn usage(max: u32, count: u32, age: u64) -> LimitUsage {
    LimitUsage {
        max,
        count,
        oldest: (count > 0).then_some(NOW.0 - age),
    }
}

fn retry_after(refused: &Problem) -> u64 {
    let field = header(&refused.headers, "retry-after");
    field.unwrap().parse().unwrap()
}
