use crate::fake_host::{FakeHost, stream};
use quillgate::Rule;
use quillgate::client::{Error, WebhookEndpoint};
use serde_json::{Value, json};

fn poll(status: &str) -> String {
    json!({ "status": 200, "json": { "_id": "s1", "status": status } }).to_string()
}

fn event(id: u64, name: &str, data: &Value) -> String {
    format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
}

#[tokio::test(start_paused = true)]
async fn a_watch_follows_the_events_of_the_record() {
    let state = |status| json!({ "_id": "s1", "status": status });
    let host = FakeHost::streaming([stream(&json!([
        event(1, "deployment", &state("queued")),
        event(2, "job", &json!({ "id": "j1", "status": "completed" })),
        1_000,
        event(3, "deployment", &state("verifying")),
        event(4, "deployment", &state("failure")),
        30_000,
    ]))]);
    let mut watch = host.client().deployments().watch("s1");
    let mut changes = Vec::new();
    while let Some(change) = watch.next().await.unwrap() {
        let status = change.deployment.status.unwrap();
        changes.push((host.elapsed(), status.as_str().to_owned(), change.is_final));
    }
    let change = |at, status: &str, is_final| (at, status.to_owned(), is_final);
    // A status that the client does not know is not final.
    let expected = [
        change(0, "queued", false),
        change(1_000, "verifying", false),
        change(1_000, "failure", true),
    ];
    assert_eq!(changes, expected);
    assert_eq!(host.count(), 1);
    assert_eq!(host.request(0, "method"), json!("GET"));
    assert_eq!(host.target(0), "/v1/project/acme/deployments/s1/events");
    host.assert_idle();
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_of_deployments_are_rejected_before_a_request() {
    let host = FakeHost::new([poll("success")]);
    let client = host.client();
    let rejected = |error: Error| match error {
        Error::Validation(error) => (error.field.clone(), error.rule),
        other => panic!("expected a validation error, found {other:?}"),
    };
    let branch = client.previews().create("").send().await.unwrap_err();
    assert_eq!(rejected(branch), ("branch".into(), Rule::NotEmpty));
    let run = client.automations().run("..").send().await.unwrap_err();
    let expected = ("workflowSchemaId".into(), Rule::NotDotSegment);
    assert_eq!(rejected(run), expected);
    let wait = client.deployments().watch("").wait().await.unwrap_err();
    assert_eq!(rejected(wait), ("statusId".into(), Rule::NotEmpty));
    assert_eq!(host.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_start_is_never_repeated_at_mintlify_and_has_one_key_at_a_gateway() {
    let busy = r#"{"status":503,"json":{}}"#;
    let started = r#"{"status":202,"json":{"statusId":"s1"}}"#;
    let host = FakeHost::new([busy, started]);
    let client = host.platform().build().unwrap();
    assert!(client.deployments().create().send().await.is_err());
    assert_eq!(host.count(), 1);
    assert_eq!(host.header(0, "idempotency-key"), None);

    let host = FakeHost::new([busy, started]);
    let client = host.client();
    client.previews().create("b").send().await.unwrap();
    let key = host.header(0, "idempotency-key");
    assert!(key.is_some() && key == host.header(1, "idempotency-key"));
}

#[tokio::test(start_paused = true)]
async fn deployments_and_previews_take_the_url_of_a_webhook() {
    async fn send<E: WebhookEndpoint>(call: quillgate::client::ApiCall<E>) {
        let call = call.webhook_url("https://hooks.example/q");
        call.send().await.map(|_| ()).unwrap();
    }
    let started = r#"{"status":202,"json":{"statusId":"s1"}}"#;
    let host = FakeHost::new([started, started]);
    let client = host.client();
    send(client.deployments().create()).await;
    send(client.previews().create("b")).await;
    for at in 0..2 {
        let url = host.header(at, "webhook-url");
        assert_eq!(url.as_deref(), Some("https://hooks.example/q"));
    }
}
