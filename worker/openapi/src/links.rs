//! Describes the links from a created job to the operations that take its id.

use quillgate::Operation;
use quillgate::declaration::Method;
use serde_json::{Map, Value, json};

use super::gateway;
use quillgate::documentation::join_lines;

pub fn from_created_job() -> Value {
    let operations = [
        Operation::GetAgentJob,
        Operation::SendMessage,
        Operation::StreamAgentJobEvents,
        Operation::GetAgentJobRecord,
        Operation::DeleteAgentJobRecord,
    ];
    let link = |name: String, doc: &str| {
        let link = json!({
            "operationId": name,
            "description": doc,
            "parameters": {
                "path.projectId": "$request.path.projectId",
                "path.id": "$response.body#/id",
            },
        });
        (name, link)
    };
    let links = operations.into_iter().flat_map(|operation| {
        let declared = operation.declaration();
        let doc = join_lines(operation.documentation().summary);
        let own = link(declared.name.to_owned(), &doc);
        let has_head = declared.method == Method::Get;
        let head = has_head.then(|| link(gateway::head_id(declared.name), &doc));
        std::iter::once(own).chain(head)
    });
    links.collect::<Map<_, _>>().into()
}
