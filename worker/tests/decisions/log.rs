//! Log lines for the operator.

use quillgate_worker::log::format_operator_line;

#[test]
fn a_line_for_the_operator_alone_has_one_member() {
    assert_eq!(format_operator_line("a \"b\""), r#"{"operator":"a \"b\""}"#);
}
