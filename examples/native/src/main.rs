//! Starts an agent job through a gateway, follows it to its pull request, and exports page views.

use std::env;
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use quillgate::{Client, ExportFormat, JobStatus};

const USAGE: &str = "usage: quillgate-example-native job PROMPT | views FROM TO";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["job", prompt] => run_job(prompt).await,
        ["views", from, to] => export_views(from, to).await,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", describe(&*error));
            ExitCode::FAILURE
        }
    }
}

/// Builds a client from environment variables.
fn connect() -> Result<Client, Box<dyn Error>> {
    let variable = |name| env::var(name).map_err(|_| format!("{name} is not set"));
    let client = Client::builder()
        .gateway(
            variable("QUILLGATE_BASE_URL")?,
            variable("QUILLGATE_TOKEN")?,
        )
        .project(variable("QUILLGATE_PROJECT_ID")?)
        .timeout(Duration::from_secs(20))
        .build()?;
    Ok(client)
}

/// Starts a job, prints its changes to stderr and its pull request to stdout.
async fn run_job(prompt: &str) -> Result<(), Box<dyn Error>> {
    let client = connect()?;
    let job = client.agent_jobs().create(prompt).send().await?;
    let id = job.id.clone();
    let mut watch = client.agent_jobs().watch(&job);
    while let Some(change) = watch.next().await? {
        let status = change.job.status.as_ref();
        eprintln!("{id}: {}", status.map_or("unknown", JobStatus::as_str));
        if change.job.status == Some(JobStatus::Failed) {
            return Err("the job has failed".into());
        }
        if let Some(link) = change.job.pr_link {
            println!("{link}");
        }
    }
    Ok(())
}

/// Writes the page views of a range to stdout, as one JSON object per line.
async fn export_views(from: &str, to: &str) -> Result<(), Box<dyn Error>> {
    let views = connect()?.analytics().views(from..to);
    let mut export = views.export(ExportFormat::NdJson);
    let mut stdout = io::stdout().lock();
    while let Some(chunk) = export.next().await? {
        stdout.write_all(&chunk)?;
    }
    Ok(())
}

/// Returns the messages of an error and of its causes.
fn describe(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}
