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
