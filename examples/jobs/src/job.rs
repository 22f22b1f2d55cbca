//! A job, from its prompt to its pull request.

use std::cell::RefCell;

use quillgate::JobStatus;
use quillgate::client::{AbortSignal, Error};
use wasm_bindgen_futures::spawn_local;
use web_sys::{AbortController, HtmlAnchorElement};

use crate::{connect, page};

thread_local! {
    /// Aborts the current watch.
    static WATCH: RefCell<Option<AbortController>> = const { RefCell::new(None) };
}

/// Starts a job and watches it. Stops watching any earlier job.
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
            // The user stopped watching or started another job.
            Err(Error::Aborted(_)) => return,
            Err(error) => page::show_error("job-error", &error),
            Ok(()) => {}
        }
        page::set_visible("stop", signal.aborted());
    });
}

/// Stops watching, and aborts the pending request. The job itself continues.
pub fn stop() {
    if let Some(watch) = WATCH.take() {
        watch.abort();
        page::set_text("job-status", "No longer watched");
        page::set_visible("stop", false);
    }
}

async fn create_and_watch(signal: AbortSignal) -> Result<(), Error> {
    let client = connect()?;
    page::set_text("job-status", "Starting …");
    let create = client.agent_jobs().create(page::value("prompt"));
    let job = create.signal(signal.clone()).send().await?;
    show(job.status.as_ref(), None);

    let mut watch = client.agent_jobs().watch(&job).signal(signal);
    while let Some(change) = watch.next().await? {
        show(change.job.status.as_ref(), change.job.pr_link.as_deref());
    }
    Ok(())
}

fn show(status: Option<&JobStatus>, link: Option<&str>) {
    page::set_text(
        "job-status",
        status.map_or("unknown", |status| status.as_str()),
    );
    // The URL is untrusted, so only `https:` URLs become links.
    let link = link.filter(|link| link.starts_with("https://"));
    if let (Some(link), Ok(anchor)) = (link, page::find::<HtmlAnchorElement>("pull-request")) {
        anchor.set_href(link);
        anchor.set_rel("noopener");
        page::set_visible("pull-request", true);
    }
}
