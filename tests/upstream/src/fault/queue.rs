//! The queue of faults and the requests that they apply to.

use std::collections::VecDeque;

use serde::Deserialize;

use super::Fault;
use crate::operation::MatchedOperation;

/// A fault and the requests that it applies to.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FaultRule {
    operation: Option<MatchedOperation>,
    /// A substring of the path and query.
    target: Option<String>,
    times: Option<u64>,
    #[serde(default)]
    after: u64,
    fault: Fault,
}

/// Fault rules in the order in which they apply.
#[derive(Default)]
pub(crate) struct FaultQueue(VecDeque<FaultRule>);

impl FaultQueue {
    pub(crate) fn push(&mut self, rule: FaultRule) {
        self.0.push_back(rule);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes the rules that hold requests.
    pub(crate) fn drop_holds(&mut self) {
        self.0
            .retain(|rule| !matches!(rule.fault, Fault::Hold { .. }));
    }

    /// The fault for a request, from the first rule that matches it. Returns `None` if no rule
    /// matches, or while that rule lets requests pass.
    pub(crate) fn next(&mut self, operation: MatchedOperation, target: &str) -> Option<Fault> {
        let matches = |rule: &FaultRule| rule.matches(operation, target);
        let at = self.0.iter().position(matches)?;
        let rule = self.0.get_mut(at)?;
        if rule.after > 0 {
            rule.after -= 1;
            return None;
        }
        match rule.times.unwrap_or(1) {
            0 => Some(rule.fault.clone()),
            1 => self.0.remove(at).map(|rule| rule.fault),
            times => {
                rule.times = Some(times - 1);
                Some(rule.fault.clone())
            }
        }
    }
}

impl FaultRule {
    fn matches(&self, operation: MatchedOperation, target: &str) -> bool {
        let part = self.target.as_deref();
        self.operation.is_none_or(|expected| expected == operation)
            && part.is_none_or(|part| target.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use quillgate::Operation;

    use super::*;

    const VIEWS: MatchedOperation = MatchedOperation::Operation(Operation::ListPageViews);
    const JOB: MatchedOperation = MatchedOperation::Operation(Operation::GetAgentJob);

    fn queue(rules: Value) -> FaultQueue {
        FaultQueue(serde_json::from_value(rules).expect("orders"))
    }

    fn kinds(queue: &mut FaultQueue, operations: &[MatchedOperation]) -> Vec<Option<&'static str>> {
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
    fn faults_apply_in_order_and_as_many_times_as_configured() {
        let mut queue = queue(json!([
            { "times": 2, "fault": { "kind": "hang" } },
            { "after": 1, "fault": { "kind": "emptyPage" } },
        ]));
        let hits = kinds(&mut queue, &[VIEWS; 5]);
        assert_eq!(
            hits,
            [Some("hang"), Some("hang"), None, Some("emptyPage"), None]
        );
    }

    #[test]
    fn a_fault_applies_only_to_its_operation() {
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
    fn a_fault_applies_only_to_its_target() {
        let mut queue = queue(json!([{ "target": "offset=250", "fault": { "kind": "hang" } }]));
        assert!(queue.next(VIEWS, "/views?offset=0").is_none());
        assert!(queue.next(VIEWS, "/views?offset=250").is_some());
    }

    #[test]
    fn dropping_holds_keeps_other_faults() {
        let mut queue = queue(json!([
            { "fault": { "kind": "hold", "next": { "kind": "hang" } } },
            { "fault": { "kind": "emptyPage" } },
        ]));
        queue.drop_holds();
        assert_eq!(
            kinds(&mut queue, &[MatchedOperation::Other]),
            [Some("emptyPage")]
        );
    }

    #[test]
    fn times_zero_applies_until_cleared() {
        let mut queue = queue(json!([{ "times": 0, "fault": { "kind": "hang" } }]));
        assert_eq!(
            kinds(&mut queue, &[MatchedOperation::Other; 3]),
            [Some("hang"); 3]
        );
        queue.clear();
        assert_eq!(kinds(&mut queue, &[MatchedOperation::Other]), [None]);
    }

    #[test]
    fn an_invalid_fault_is_rejected() {
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
            let rule = json!({ "fault": fault });
            assert!(
                serde_json::from_value::<FaultRule>(rule.clone()).is_err(),
                "{rule}"
            );
        }
    }
}
