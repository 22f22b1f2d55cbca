use quillgate::declaration::{Pagination, ParameterIn, ParameterKind};
use quillgate::schema::JsonType;
use quillgate::{
    BeginBackfill, Call, CreateAgentJob, CreateDeployment, CreatePreview, DeleteAgentJobRecord,
    DeleteDeploymentRecord, Endpoint, EstimateBackfill, ExportConversations, ExportFeedback,
    ExportPageViews, ExportSearches, ExportVisitors, GetAgentJob, GetAgentJobRecord,
    GetArchiveStatus, GetCallerStats, GetConversation, GetDeployment, GetFeedbackByPage,
    ListAgentJobs, ListArchivedViews, ListConversations, ListDailyViews, ListDeployments,
    ListFeedback, ListPageViews, ListSearches, ListVisitors, Operation, RateLimitPolicy, Request,
    RunAutomation, SendMessage, StreamAgentJobEvents, StreamDeploymentEvents,
    StreamProjectDeploymentEvents, StreamProjectJobEvents,
};
use serde_json::json;

use crate::operations::project;

fn typed_request(operation: Operation, params: &serde_json::Value) -> Request {
    fn of<E: Endpoint>(params: &serde_json::Value) -> Request {
        E::parse(params).unwrap().request(&project())
    }
    macro_rules! request_of {
        ($($name:ident)*) => {
            match operation {
                $(Operation::$name => of::<$name>(params),)*
            }
        };
    }
    request_of!(
        CreateAgentJob GetAgentJob SendMessage ListAgentJobs StreamAgentJobEvents
        StreamProjectJobEvents GetAgentJobRecord DeleteAgentJobRecord ExportPageViews
        ExportVisitors ExportFeedback ExportSearches ExportConversations ListPageViews
        ListVisitors ListFeedback GetFeedbackByPage ListSearches ListConversations
        GetConversation GetCallerStats ListArchivedViews ListDailyViews GetArchiveStatus
        EstimateBackfill BeginBackfill CreateDeployment CreatePreview DeleteDeploymentRecord
        GetDeployment ListDeployments RunAutomation StreamDeploymentEvents
        StreamProjectDeploymentEvents
    )
}

const ULID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

fn sample(name: &str, kind: ParameterKind) -> serde_json::Value {
    match kind {
        ParameterKind::Text | ParameterKind::Id => json!("x"),
        ParameterKind::Ulid => json!(ULID),
        ParameterKind::Date if name == "dateTo" => json!("2024-01-02"),
        ParameterKind::Date => json!("2024-01-01"),
        ParameterKind::Integer { rule, .. } => json!(rule.max),
        ParameterKind::Page => json!(2),
        ParameterKind::OneOf(known) | ParameterKind::ListOf(known) => json!(known[0]),
    }
}

/// All parameters of an operation except one.
fn params_without(operation: Operation, omitted: &str) -> serde_json::Value {
    let parameters = operation.declaration().parameters.iter();
    parameters
        .filter(|parameter| parameter.kind != ParameterKind::Page && parameter.name != omitted)
        .map(|it| (it.name.to_owned(), sample(it.name, it.kind)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

fn accepts(operation: Operation, params: &serde_json::Value) -> bool {
    Call::parse(operation.declaration(), params).is_ok()
}

#[test]
fn requests_match_their_declarations() {
    for operation in Operation::ALL.iter().copied() {
        let declaration = operation.declaration();
        let name = declaration.name;
        let params = params_without(operation, "");
        let call = Call::parse(declaration, &params).unwrap();
        let request = call.request(&project());
        assert_eq!(typed_request(operation, &params), request, "{name}");
        assert_eq!(request.method, declaration.method, "{name}");

        let (path, query) = request
            .target
            .split_once('?')
            .unwrap_or((&request.target, ""));
        let route = declaration
            .path
            .replace("{projectId}", "acme")
            .replace("{id}", "x")
            .replace("{statusId}", "x")
            .replace("{workflowSchemaId}", "x")
            .replace("{threadId}", ULID);
        assert_eq!(path, route, "{name}");

        let named = |place| -> Vec<&str> {
            declaration
                .parameters
                .iter()
                .filter(|parameter| {
                    parameter.place == place && parameter.kind != ParameterKind::Page
                })
                .map(|parameter| parameter.name)
                .collect()
        };
        for parameter in named(ParameterIn::Path) {
            let braced = format!("{{{parameter}}}");
            assert!(declaration.path.contains(&braced), "{name}");
        }
        let braces = declaration.path.matches('{').count();
        let projects = usize::from(declaration.path.contains("{projectId}"));
        assert_eq!(named(ParameterIn::Path).len() + projects, braces, "{name}");
        let sent: Vec<_> = query
            .split('&')
            .filter_map(|pair| Some(pair.split_once('=')?.0))
            .collect();
        assert_eq!(named(ParameterIn::Query), sent, "{name}");
        let body: serde_json::Value = request
            .body
            .map_or(json!({}), |body| serde_json::from_str(&body).unwrap());
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(named(ParameterIn::Body), fields, "{name}");
    }
}

#[test]
fn exactly_the_parameters_declared_as_required_are_required() {
    for operation in Operation::ALL.iter().copied() {
        let declaration = operation.declaration();
        for omitted in declaration.parameters {
            let is_accepted = accepts(operation, &params_without(operation, omitted.name));
            let case = format!("{} without {}", declaration.name, omitted.name);
            assert_eq!(is_accepted, !omitted.is_required, "{case}");
        }
    }
}

#[test]
fn operations_have_unique_names_and_routes() {
    let declarations: Vec<_> = Operation::ALL.iter().map(|it| it.declaration()).collect();
    for (at, one) in declarations.iter().enumerate() {
        for other in &declarations[at + 1..] {
            assert_ne!(one.name, other.name);
            let expected = (other.method.as_str(), other.path);
            assert_ne!((one.method.as_str(), one.path), expected);
        }
    }
}

#[test]
fn operations_are_found_by_name() {
    for operation in Operation::ALL.iter().copied() {
        let name = operation.declaration().name;
        assert_eq!(Operation::from_name(name), Some(operation));
        assert_eq!(serde_json::to_value(operation).unwrap(), json!(name));
    }
    for name in ["", "agentJobs", "agentJobs.Get", "pageViews.list"] {
        assert_eq!(Operation::from_name(name), None, "{name}");
    }
}

#[test]
fn each_operation_declares_its_scope_policy_result_and_pagination() {
    let declared = Operation::ALL.iter().map(|operation| {
        let declared = operation.declaration();
        let policy = declared.policy.map_or("-", RateLimitPolicy::as_str);
        let pagination = match declared.pagination {
            Pagination::None => String::new(),
            Pagination::Offset { rows } => format!(" offset:{rows}"),
            Pagination::Cursor { rows, time, .. } => {
                format!(" cursor:{rows}:{}", time.unwrap_or_default())
            }
        };
        let (scope, name) = (declared.scope.as_str(), declared.name);
        let result = match operation.result() {
            JsonType::Empty => "-",
            result => result.name(),
        };
        format!("{name} {scope} {policy} {result}{pagination}\n")
    });
    let expected = "\
agentJobs.create jobs:create create-job CreatedJob
agentJobs.get jobs:read read-jobs AgentJob
agentJobs.sendMessage jobs:create send-message AgentJob
agentJobs.list jobs:read read-jobs JobPage cursor:jobs:
analytics.views analytics:read analytics PageViews offset:views
analytics.visitors analytics:read analytics Visitors offset:visitors
analytics.feedback analytics:read analytics FeedbackPage cursor:feedback:createdAt
analytics.feedbackByPage analytics:read analytics FeedbackByPage
analytics.searches analytics:read analytics Searches cursor:searches:
analytics.conversations analytics:conversations analytics Conversations cursor:conversations:timestamp
analytics.conversation analytics:conversations analytics ConversationThread
analytics.callerStats analytics:read analytics CallerStats
agentJobs.record jobs:read read-jobs JobRecord
agentJobs.deleteRecord gateway:operate - -
analytics.dailyViews analytics:read - DailyViews cursor:views:
analytics.archivedViews analytics:read - ArchivedViews cursor:views:
analytics.archiveStatus analytics:read - ArchiveStatus
analytics.estimateBackfill gateway:operate - Backfill
analytics.beginBackfill gateway:operate - Backfill
deployments.create deployments:create create-deployment StartedDeployment
deployments.get deployments:read read-deployments Deployment
deployments.list deployments:read read-deployments DeploymentPage cursor:deployments:
deployments.deleteRecord gateway:operate - -
previews.create deployments:create create-preview StartedPreview
automations.run automations:run create-deployment AutomationRun
agentJobs.events jobs:read read-jobs AgentJob
agentJobs.allEvents jobs:read read-jobs ListedJob
deployments.events deployments:read read-deployments Deployment
deployments.allEvents deployments:read read-deployments ListedDeployment
analytics.views.export analytics:read analytics PageView
analytics.visitors.export analytics:read analytics PageVisitors
analytics.feedback.export analytics:read analytics Feedback
analytics.searches.export analytics:read analytics SearchTerm
analytics.conversations.export analytics:conversations analytics Conversation
";
    assert_eq!(declared.collect::<String>(), expected);
}

#[test]
fn every_operation_and_every_parameter_is_documented() {
    for operation in Operation::ALL {
        let (declaration, documentation) = (operation.declaration(), operation.documentation());
        assert!(documentation.summary.concat().trim().ends_with('.'));
        let docs = documentation.parameters;
        let found = declaration.parameters.len();
        assert_eq!(found, docs.len(), "{}", declaration.name);
        assert!(docs.iter().all(|doc| doc.ends_with('.')), "{docs:?}");
    }
}
