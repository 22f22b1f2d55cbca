//! Handlers of agent jobs and their records.

use quillgate::{JobId, Method, Millis};

use crate::app::pending_request::PendingRequest;
use crate::app::reply::Reply;
use crate::app::write_plan::{AdmittedWrite, plan_write};
use crate::auth::turnstile;
use crate::auth::turnstile::TurnstileProof;
use crate::http::problem::Problem;
use crate::http::request_head::PackedHead;
use crate::http::response::{HeaderFields, JSON};
use crate::jobs::ledger::{JobFilter, Position, encode_cursor};
use crate::jobs::project_stub::{ListCall, WriteCall};
use crate::jobs::write::Write;
use crate::upstream::client::UpstreamClient;
use crate::upstream::failure::mark_uncertain;
use crate::upstream::transport::{Outgoing, send};

/// The time limit of a Turnstile verification.
const VERIFICATION_TIMEOUT: Millis = Millis::from_seconds(10);
/// The maximum length of its response, in bytes.
const MAX_VERIFICATION_BYTES: usize = 64 * 1024;

/// Reads a job upstream.
pub async fn read(
    pending: &mut PendingRequest,
    request: quillgate::Request,
) -> Result<Reply, Problem> {
    let request = pending.context.upstream_request(request);
    let client = UpstreamClient::new(&pending.config.upstream);
    let exchange = client.read_job(&request).await;
    pending.context.metrics.upstream = Some(exchange.metrics);
    let reply = exchange.outcome.map_err(|failure| failure.problem)?;
    Ok(Reply {
        status: reply.head.status,
        headers: reply.head.forwarded_headers(),
        body: reply.text.into(),
        problem: None,
    })
}

/// Creates a job, or sends a message to one.
pub async fn write(
    pending: &mut PendingRequest,
    packed: &PackedHead<'_>,
    admitted: &AdmittedWrite,
) -> Result<Reply, Problem> {
    let body = pending.read_body().await?;
    let headers = packed.write_headers();
    let (write, proof) = plan_write(&pending.config, admitted, &headers, body.as_bytes())?;
    if let Some(proof) = proof {
        verify_turnstile(pending, &proof, &write, packed.uuid).await?;
    }
    let call = WriteCall {
        call: pending.call()?,
        write,
    };
    let written = async { pending.project_stub()?.write(&call).await };
    match written.await {
        Ok(reply) => {
            pending.context.metrics = reply.metrics;
            Ok(reply.response.into())
        }
        Err(error) => Err(mark_uncertain(pending.gate_failed(&error), Method::Post)),
    }
}

async fn verify_turnstile(
    pending: &PendingRequest,
    proof: &TurnstileProof,
    write: &Write,
    uuid: &str,
) -> Result<(), Problem> {
    let turnstile = pending.config.turnstile.as_ref();
    let turnstile = turnstile.ok_or_else(Problem::internal)?;
    let idempotency_key =
        turnstile::choose_idempotency_key(write.key_fingerprint().as_deref(), uuid);
    let body = turnstile::build_verification(&turnstile.secret, proof, &idempotency_key);
    let sent = send(Outgoing {
        method: "POST",
        url: &turnstile.verify_url,
        headers: HeaderFields::default().with("content-type", JSON),
        body: Some(&body),
        time: VERIFICATION_TIMEOUT,
    });
    let message = sent.await.map_err(|_| turnstile::unavailable_problem())?;
    let answer = match message.head.status {
        200..=299 => message.read_text(MAX_VERIFICATION_BYTES).await,
        _ => None,
    };
    let answer = answer.ok_or_else(turnstile::unavailable_problem)?;
    if turnstile::is_accepted(&answer, &proof.hostname) {
        return Ok(());
    }
    Err(turnstile::failed_problem())
}

/// Lists jobs of the project's ledger.
pub async fn list(
    pending: &mut PendingRequest,
    filter: JobFilter,
    limit: u64,
    before: Option<Position>,
) -> Result<Reply, Problem> {
    let call = ListCall {
        call: pending.call()?,
        filter,
        limit,
        cursor: before.as_ref().map(encode_cursor),
    };
    let listed = async { pending.project_stub()?.list(&call).await };
    let response = listed.await.map_err(|error| pending.gate_failed(&error))?;
    Ok(response.into())
}

/// Reads the record of a job.
pub async fn read_record(pending: &mut PendingRequest, job: &JobId) -> Result<Reply, Problem> {
    let call = pending.call()?;
    let read = async {
        let project = pending.project_stub()?;
        project.read_record(&call, job.as_str()).await
    };
    let response = read.await.map_err(|error| pending.gate_failed(&error))?;
    Ok(response.into())
}

/// Deletes the record of a job.
pub async fn delete_record(pending: &mut PendingRequest, job: &JobId) -> Result<Reply, Problem> {
    let id = &pending.context.id;
    let deleted = async {
        let project = pending.project_stub()?;
        project.delete_record(id, job.as_str()).await
    };
    let response = deleted.await.map_err(|error| pending.gate_failed(&error))?;
    Ok(response.into())
}
