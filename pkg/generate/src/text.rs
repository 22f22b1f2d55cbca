//! Functions that several generators share.

use quillgate::Operation;

/// Returns the operations that the package can call.
pub fn of_package() -> impl Iterator<Item = Operation> {
    let all = Operation::ALL.iter().copied();
    all.filter(|operation| !operation.is_streamed())
}

/// The operations that the package streams. Their result is the type of an event's data.
pub const EVENT_STREAMS: [Operation; 4] = [
    Operation::StreamAgentJobEvents,
    Operation::StreamProjectJobEvents,
    Operation::StreamDeploymentEvents,
    Operation::StreamProjectDeploymentEvents,
];
