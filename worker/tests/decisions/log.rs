//! The log line that carries a message to the operator.

use quillgate_worker::log::format_operator_line;

#[test]
fn operator_line_has_one_property() {
    assert_eq!(format_operator_line("a \"b\""), r#"{"operator":"a \"b\""}"#);
}
