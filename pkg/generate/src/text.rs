//! Functions that several generators share.

use quillgate::Operation;

/// Returns the operations that the package can call.
pub fn of_package() -> impl Iterator<Item = Operation> {
    let all = Operation::ALL.iter().copied();
    all.filter(|operation| !operation.is_streamed())
}

/// Joins lines of documentation into one paragraph.
pub fn join(lines: &[&str]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}
