use proptest::prelude::*;
use quillgate::{Operation, ProjectId};
use quillgate_worker::http::content::RequestValues;
use quillgate_worker::http::route::decode_segment;

#[test]
fn ambiguous_path_segment_is_rejected() {
    let (dots, overlong) = ("%252e%252e", "%c0%ae%c0%ae");
    let injected = "%0d%0aX-Injected:1";
    for segment in [
        "a%2Fb", "a%5Cb", "\\", "%252f", "%3Fx=1", "%23", "a%00", "%09", "%7f", "%c2%85", "%",
        "%e2%28", dots, overlong, injected,
    ] {
        let error = decode_segment("id", segment).unwrap_err();
        let found = (error.field.as_ref(), error.rule.name());
        assert_eq!(found, ("id", "path-segment"), "{segment}");
        let is_echoed = segment.len() >= 4 && error.message().contains(segment);
        assert!(!is_echoed, "{segment}");
    }
}

proptest! {
    #[test]
    fn accepted_segment_contains_no_separator(
        segment in r"(\.|%2[eE]){1,2}|([a-z.;/\\?#%]|%(2[35efEF]|3[fF]|5[cC]|0a|c3)|\PC){0,4}",
    ) {
        let segments = vec![("projectId", &*segment)];
        if let Ok(values) = RequestValues::from_path(Operation::ListAgentJobs, segments) {
            let project = values.project.as_ref().map_or("", ProjectId::as_str);
            prop_assert!(!project.contains(['/', '\\', '?', '#', '%']), "{project:?}");
            prop_assert!(!project.contains(char::is_control), "{project:?}");
            prop_assert!(!matches!(project, "." | ".."), "{project:?}");
        }
    }
}
