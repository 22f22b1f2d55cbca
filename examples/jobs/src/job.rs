//! A job, from its prompt to its pull request.

use std::cell::RefCell;

use quillgate::client::{AbortSignal, Error};
use quillgate::{AgentJob, CreateAgentJob, GetAgentJob, JobId, Prompt};
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, HtmlAnchorElement};

use crate::{connect, page};

thread_local! {
    /// Ends the watch that is under way.
    static WATCH: RefCell<Option<AbortController>> = const { RefCell::new(None) };
}

/// Starts a job and watches it; a watch of an earlier one ends.
pub fn start() {
    stop();
    let Ok(controller) = AbortController::new() else {
        return;
    };
    let signal = controller.signal();
    WATCH.set(Some(controller));
    page::set_text("job-error", "");
    page::set_visible("pull-request", false);
    page::set_visible("stop", true);
    spawn_local(async move {
        match create_and_watch(signal.clone()).await {
            // The page shows another job by now, or none.
            Err(Error::Aborted(_)) => return,
            Err(error) => page::show_error("job-error", &error),
            Ok(()) => {}
        }
        page::set_visible("stop", signal.aborted());
    });
}

/// Ends the watch, and with it its request or its wait. The job goes on.
pub fn stop() {
    if let Some(watch) = WATCH.take() {
        watch.abort();
        page::set_text("job-status", "No longer watched");
        page::set_visible("stop", false);
    }
}

async fn create_and_watch(signal: AbortSignal) -> Result<(), Error> {
    let client = connect()?.with_signal(signal);
    let create = CreateAgentJob::new(Prompt::new(page::value("prompt"))?);
    page::set_text("job-status", "Starting …");
    let job = client.agent_jobs().create(create).await?;
    show(&job);

    let id = JobId::new(job.id.unwrap_or_default())?;
    let mut watch = client.agent_jobs().watch(GetAgentJob::new(id));
    while let Some(change) = watch.next().await? {
        show(&change.job);
    }
    Ok(())
}

fn show(job: &AgentJob) {
    let status = job.status.as_ref();
    page::set_text(
        "job-status",
        status.map_or("unknown", |status| status.as_str()),
    );
    // An address comes from outside: only one of the web becomes a link.
    let link = job
        .pr_link
        .as_deref()
        .filter(|link| link.starts_with("https://"));
    if let (Some(link), Ok(anchor)) = (link, page::find::<HtmlAnchorElement>("pull-request")) {
        anchor.set_href(link);
        anchor.set_rel("noopener");
        page::set_visible("pull-request", true);
    }
}
