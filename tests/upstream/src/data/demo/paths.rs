//! Paths of pages, most viewed first.

use super::super::paths::{ACTIONS, LANGUAGES, RESOURCES, TASKS, TOPICS, mixed};

/// An endless sequence of unique paths. Feedback, searches and conversations refer to the first.
pub(crate) fn paths() -> impl Iterator<Item = String> {
    let first = include_str!("paths.txt").lines();
    first.map(str::to_owned).chain((0..).flat_map(round))
}

/// One path in each section.
fn round(number: usize) -> [String; 4] {
    // A prime stride varies both parts of neighbouring paths.
    let (guide, topic, task) = mixed(number * 19, &TOPICS, &TASKS);
    let (api, resource, action) = mixed(number * 19, &RESOURCES, &ACTIONS);
    let (sdk, language, sdk_topic) = mixed(number * 19, &LANGUAGES, &TOPICS);
    [
        format!("{guide}/guides/{topic}/{task}"),
        format!("{api}/api-reference/{resource}/{action}"),
        format!("{sdk}/sdks/{language}/{sdk_topic}"),
        format!("/changelog/release-{}", 400 + number),
    ]
}
