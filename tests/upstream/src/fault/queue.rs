//! The queue of faults, and which request meets which.

use std::collections::VecDeque;

use serde::Deserialize;

use super::Fault;
use crate::operation::Target;

/// A fault, and the requests that meet it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Order {
    operation: Option<Target>,
    /// A part of the path and query.
    target: Option<String>,
    times: Option<u64>,
    #[serde(default)]
    after: u64,
    fault: Fault,
}

/// Faults in the order in which they strike.
#[derive(Default)]
pub(crate) struct FaultQueue(VecDeque<Order>);

impl FaultQueue {
    pub(crate) fn push(&mut self, order: Order) {
        self.0.push_back(order);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Drops the orders to hold requests.
    pub(crate) fn drop_holds(&mut self) {
        self.0
            .retain(|order| !matches!(order.fault, Fault::Hold { .. }));
    }

    /// The fault that this request meets, by the first order that matches it.
    pub(crate) fn next(&mut self, operation: Target, target: &str) -> Option<Fault> {
        let matches = |order: &Order| order.matches(operation, target);
        let at = self.0.iter().position(matches)?;
        let order = self.0.get_mut(at)?;
        if order.after > 0 {
            order.after -= 1;
            return None;
        }
        match order.times.unwrap_or(1) {
            0 => Some(order.fault.clone()),
            1 => self.0.remove(at).map(|order| order.fault),
            times => {
                order.times = Some(times - 1);
                Some(order.fault.clone())
            }
        }
    }
}

impl Order {
    fn matches(&self, operation: Target, target: &str) -> bool {
        let part = self.target.as_deref();
        self.operation.is_none_or(|wanted| wanted == operation)
            && part.is_none_or(|part| target.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use quillgate::Operation;

    use super::*;

    const VIEWS: Target = Target::Operation(Operation::ListPageViews);
    const JOB: Target = Target::Operation(Operation::GetAgentJob);

    fn queue(orders: Value) -> FaultQueue {
        FaultQueue(serde_json::from_value(orders).expect("orders"))
    }

    fn kinds(queue: &mut FaultQueue, operations: &[Target]) -> Vec<Option<&'static str>> {
        let kind = |fault| match fault {
            Fault::Hang { .. } => "hang",
            Fault::Hold { .. } => "hold",
            Fault::EmptyPage => "emptyPage",
            _ => "another",
        };
        operations
            .iter()
            .map(|operation| queue.next(*operation, "/").map(kind))
            .collect()
    }

    #[test]
    fn faults_strike_in_order_and_as_often_as_ordered() {
        let mut queue = queue(json!([
            { "times": 2, "fault": { "kind": "hang" } },
            { "after": 1, "fault": { "kind": "emptyPage" } },
        ]));
        let struck = kinds(&mut queue, &[VIEWS; 5]);
        assert_eq!(
            struck,
            [Some("hang"), Some("hang"), None, Some("emptyPage"), None]
        );
    }

    #[test]
    fn a_fault_waits_for_its_operation() {
        let mut queue = queue(json!([
            { "operation": "agentJobs.get", "fault": { "kind": "hang" } },
            { "fault": { "kind": "emptyPage" } },
        ]));
        let operations = [VIEWS, VIEWS, JOB];
        assert_eq!(
            kinds(&mut queue, &operations),
            [Some("emptyPage"), None, Some("hang")]
        );
    }

    #[test]
    fn a_fault_waits_for_its_target() {
        let mut queue = queue(json!([{ "target": "offset=250", "fault": { "kind": "hang" } }]));
        assert!(queue.next(VIEWS, "/views?offset=0").is_none());
        assert!(queue.next(VIEWS, "/views?offset=250").is_some());
    }

    #[test]
    fn holds_are_dropped_and_other_faults_stay() {
        let mut queue = queue(json!([
            { "fault": { "kind": "hold", "next": { "kind": "hang" } } },
            { "fault": { "kind": "emptyPage" } },
        ]));
        queue.drop_holds();
        assert_eq!(kinds(&mut queue, &[Target::Other]), [Some("emptyPage")]);
    }

    #[test]
    fn times_zero_lasts_until_cleared() {
        let mut queue = queue(json!([{ "times": 0, "fault": { "kind": "hang" } }]));
        assert_eq!(kinds(&mut queue, &[Target::Other; 3]), [Some("hang"); 3]);
        queue.clear();
        assert_eq!(kinds(&mut queue, &[Target::Other]), [None]);
    }

    #[test]
    fn a_fault_that_makes_no_sense_is_not_accepted() {
        for fault in [
            json!({ "kind": "unknown" }),
            json!({ "kind": "status" }),
            json!({ "kind": "status", "status": 101 }),
            json!({ "kind": "hold", "next": { "kind": "unknown" } }),
            json!({ "kind": "cutBody", "bytes": -1 }),
            json!({ "kind": "status", "status": 500, "headers": { "a b": "c" } }),
            json!({ "kind": "status", "status": 500, "retries": 1 }),
            json!({ "kind": "slowDrip", "chunkBytes": 0, "intervalMs": 1 }),
            json!({ "kind": "redirect", "status": 302, "location": "a\nb" }),
        ] {
            let order = json!({ "fault": fault });
            assert!(
                serde_json::from_value::<Order>(order.clone()).is_err(),
                "{order}"
            );
        }
    }
}
