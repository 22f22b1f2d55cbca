//! That the description of a type is the type.

use quillgate::response::decode;
use quillgate::schema::{Described, Kind, Object};
use quillgate::{
    AgentJob, CreateAgentJob, Endpoint, GetAgentJob, JobPage, JobStatus, ListAgentJobs,
    ListPageViews, ListedJob, Operation, PageViews, SendMessage, StreamAgentJobEvents,
};
use serde_json::{Value, json};

/// A value of the described type, with every member there.
fn example(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!("x"),
        Kind::OpenEnum(described) => json!(described.known[0]),
        Kind::Count => json!(7),
        Kind::Flag => json!(true),
        Kind::Object(object) => object
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), example(&field.kind)))
            .collect(),
        Kind::List(element) => json!([example(element)]),
        Kind::Nullable(inner) => example(inner),
        Kind::Nothing => panic!("what has no body is not decoded"),
    }
}

/// Every member's path as a JSON pointer, with whether it may be `null` or left out.
fn members(kind: &Kind, at: &str, found: &mut Vec<(String, bool)>) {
    match kind {
        Kind::Object(object) => {
            for field in object.fields {
                let path = format!("{at}/{}", field.name);
                found.push((path.clone(), matches!(field.kind, Kind::Nullable(_))));
                members(&field.kind, &path, found);
            }
        }
        Kind::List(element) => members(element, &format!("{at}/0"), found),
        Kind::Nullable(inner) => members(inner, at, found),
        Kind::Text | Kind::OpenEnum(_) | Kind::Count | Kind::Flag | Kind::Nothing => {}
    }
}

fn assert_described<E: Endpoint>(count: usize)
where
    E::Output: serde::de::DeserializeOwned + serde::Serialize,
{
    let kind = E::Output::KIND;
    let whole = example(&kind);
    let read = |body: &Value| decode::<E>(body.to_string().as_bytes());
    // What is read and written again has the described members and no others.
    assert_eq!(
        serde_json::to_value(read(&whole).unwrap_or_else(|error| panic!("{error}"))).unwrap(),
        whole
    );

    let mut found = Vec::new();
    members(&kind, "", &mut found);
    assert_eq!(found.len(), count);
    for (path, may_lack) in found {
        let mut null = whole.clone();
        *null.pointer_mut(&path).unwrap() = Value::Null;
        assert_eq!(read(&null).is_ok(), may_lack, "{path} as null");

        let mut missing = whole.clone();
        let (parent, name) = path.rsplit_once('/').unwrap();
        missing
            .pointer_mut(parent)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(name)
            .unwrap();
        assert_eq!(read(&missing).is_ok(), may_lack, "{path} left out");
    }
}

#[test]
fn an_agent_job_is_read_and_written_as_it_is_described() {
    assert_described::<CreateAgentJob>(9);
    assert_described::<GetAgentJob>(9);
    assert_described::<SendMessage>(9);
    assert_described::<StreamAgentJobEvents>(9);
}

#[test]
fn a_page_of_jobs_is_read_and_written_as_it_is_described() {
    assert_described::<ListAgentJobs>(9);
}

#[test]
fn page_views_are_read_and_written_as_they_are_described() {
    assert_described::<ListPageViews>(10);
}

#[test]
fn the_described_statuses_are_the_known_ones() {
    let Kind::OpenEnum(described) = JobStatus::KIND else {
        panic!("a job's status is open text");
    };
    assert_eq!(described.name, "JobStatus");
    for text in described.known {
        assert!(JobStatus::from((*text).to_owned()).is_known(), "{text}");
    }
    assert_eq!(described.known.len(), 4);
}

#[test]
fn each_operation_promises_its_resource() {
    let results = [
        (Operation::CreateAgentJob, "AgentJob"),
        (Operation::GetAgentJob, "AgentJob"),
        (Operation::SendMessage, "AgentJob"),
        (Operation::ListAgentJobs, "JobPage"),
        (Operation::StreamAgentJobEvents, "AgentJob"),
        (Operation::DeleteAgentJobRecord, ""),
        (Operation::ListPageViews, "PageViews"),
    ];
    assert_eq!(results.map(|(operation, _)| operation), Operation::ALL);
    for (operation, name) in results {
        match operation.result() {
            Kind::Object(object) => assert_eq!(object.name, name),
            other => assert_eq!((other, name), (&Kind::Nothing, "")),
        }
        assert_eq!(operation.declaration().result, name);
    }
}

fn documented(object: &Object) {
    assert!(!object.doc.is_empty(), "{}", object.name);
    for field in object.fields {
        let words = field.doc.concat();
        assert!(
            words.trim().ends_with('.'),
            "{}.{}: {words}",
            object.name,
            field.name
        );
    }
}

#[test]
fn every_member_is_documented() {
    for kind in [
        AgentJob::KIND,
        JobPage::KIND,
        ListedJob::KIND,
        PageViews::KIND,
    ] {
        let Kind::Object(object) = kind else {
            panic!("a record is an object");
        };
        documented(object);
    }
}
