//! What several of the generated files have in common.

use quillgate::Operation;

/// The operations that the package carries out by name: those that are answered by JSON.
pub fn of_package() -> impl Iterator<Item = Operation> {
    let own = [
        Operation::StreamAgentJobEvents,
        Operation::DeleteAgentJobRecord,
    ];
    let all = Operation::ALL.iter().copied();
    all.filter(move |operation| !own.contains(operation))
}

/// Documentation as one paragraph.
pub fn join(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}
