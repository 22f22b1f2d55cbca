use crate::fake_host::{FakeHost, stream};
use quillgate::client::WebhookEndpoint;
use serde_json::{Value, json};

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
