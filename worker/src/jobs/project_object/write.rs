//! Carries out writes: reserves the key and the budget, sends the request and records the outcome.

use quillgate::{JobId, Operation};

use crate::budget::reservation::Reservation;
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::events::StreamEvent;
use crate::jobs::project_object::Project;
use crate::jobs::project_stub::WriteReply;
use crate::jobs::store::idempotency::KeyReservation;
use crate::jobs::write::Write;
use crate::runtime::{HostError, HostResult, log_for_operator};
use crate::upstream::client::{Exchange, JobSnapshot, send_upstream};
use crate::upstream::failure::{KeyOutcome, UpstreamFailure, reservation_outcome};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::permits::ConnectionClass;
use crate::upstream::request::{Call, UpstreamRequest};

impl Project {
    /// Carries out a write unless its idempotency key or the budget prevents it.
    pub(super) async fn write(&self, call: &Call, write: &Write) -> HostResult<WriteReply> {
        self.jobs.remember_project(&call.project)?;
        let reserved = self.database.transaction(|| self.reserve(call, write))?;
        let (key, reservation) = match reserved {
            Ok(reserved) => reserved,
            Err(reply) => return Ok(reply),
        };
        let Exchange { metrics, outcome } = self.send_write(call, write, &reservation).await;
        let (response, key_outcome) = match &outcome {
            Ok(reply) => (
                GatewayResponse::json(reply.http_status, reply.text.as_str()),
                KeyOutcome::Store,
            ),
            Err(failure) => (
                GatewayResponse::problem(&failure.problem, &call.id),
                failure.key_outcome,
            ),
        };
        let conclude = || {
            self.budget
                .conclude(&reservation, reservation_outcome(&outcome))?;
            self.keys.conclude(&key, key_outcome, &response)
        };
        let added = self.database.transaction(|| {
            let event = self.add_job(write, &outcome)?;
            conclude()?;
            Ok(event)
        });
        // If storing the job fails, the outcomes of the key and of the reservation are still
        // stored.
        if added.is_err()
            && let Err(error) = self.database.transaction(conclude)
        {
            self.keys.conclude(&key, KeyOutcome::Unknown, &response)?;
            return Err(error);
        }
        let published = async { self.publish_write(write, &outcome, added?).await };
        if let Err(error) = published.await {
            // Mintlify's response is known, so the caller still receives it.
            log_for_operator(&format!("the job could not be stored: {error}"));
        }
        Ok(WriteReply {
            response: GatewayResponse {
                headers: response.headers.or(reservation.fields),
                ..response
            },
            metrics: RequestMetrics {
                upstream: Some(metrics),
                budget_left: Some(reservation.left),
                ..RequestMetrics::default()
            },
        })
    }

    /// Reserves the idempotency key and the budget. Returns the reply if the write must not be
    /// sent.
    fn reserve<'a>(
        &self,
        call: &Call,
        write: &'a Write,
    ) -> HostResult<Result<(KeyReservation<'a>, Reservation), WriteReply>> {
        let key = match self.keys.reserve(&call.id, write)? {
            Ok(key) => key,
            Err(response) => {
                let metrics = RequestMetrics::default();
                return Ok(Err(WriteReply { response, metrics }));
            }
        };
        match self.budget.reserve(&write.budget)? {
            Ok(reservation) => Ok(Ok((key, reservation))),
            Err(problem) => {
                let response = GatewayResponse::problem(&problem, &call.id);
                self.keys.conclude(&key, KeyOutcome::Release, &response)?;
                let metrics = RequestMetrics {
                    budget_left: Some(0),
                    ..RequestMetrics::default()
                };
                Ok(Err(WriteReply { response, metrics }))
            }
        }
    }

    /// Waits for a connection, then sends the write.
    async fn send_write(
        &self,
        call: &Call,
        write: &Write,
        reservation: &Reservation,
    ) -> Exchange<JobSnapshot> {
        let request = UpstreamRequest {
            operation: match write.job {
                None => Operation::CreateAgentJob,
                Some(_) => Operation::SendMessage,
            },
            call,
            target: &write.target,
            body: Some(&write.body),
        };
        let time = self.upstream.timeout;
        let permit = self.connections.acquire(ConnectionClass::Write, time).await;
        let permit = match permit {
            Ok(permit) => permit,
            Err(problem) => return Exchange::not_sent(problem),
        };
        if permit.has_waited && self.budget.postpone(reservation.id).is_err() {
            return Exchange::not_sent(Problem::object_unavailable());
        }
        let sent = send_upstream(&self.upstream, &request, &mut || true).await;
        sent.read(&request, JobSnapshot::read)
    }

    /// Stores the job that a write created. Returns the event for streams of the job list, if
    /// any.
    fn add_job(
        &self,
        write: &Write,
        outcome: &Result<JobSnapshot, UpstreamFailure>,
    ) -> HostResult<Option<StreamEvent>> {
        let Some((id, reply)) = find_created(write, outcome) else {
            return Ok(None);
        };
        if JobId::new(id).is_err() {
            return Err(HostError::new("a job whose id cannot be part of a path"));
        }
        let event = self.jobs.add(id, write, reply)?;
        if write.webhook.is_some()
            && let Some(row) = self.jobs.find(id)?
        {
            // If the job has already ended, no later change would queue the webhook.
            self.queue_webhook(&row, None)?;
        }
        Ok(event)
    }

    /// Notifies watchers of a successful write, and schedules the next poll of its job.
    async fn publish_write(
        &self,
        write: &Write,
        outcome: &Result<JobSnapshot, UpstreamFailure>,
        event: Option<StreamEvent>,
    ) -> HostResult<()> {
        if let (Some(id), Ok(reply)) = (&write.job, outcome) {
            self.supersede_poll(id);
            self.record(id, reply, Some(write))?;
            self.plan_webhook_poll(id)?;
        } else if let Some((id, _)) = find_created(write, outcome) {
            let is_watched = self.broadcast_list(event.as_slice()) > 0;
            if write.webhook.is_some() {
                self.plan_webhook_poll(id)?;
            } else if self.alarm.get().is_some() && !is_watched {
                // No caller is waiting for the new job. The alarm that is already set also plans
                // the deletion of the job's record.
                return Ok(());
            }
        } else {
            return Ok(());
        }
        self.schedule().await
    }
}

/// Returns the job that a write created, with its id.
fn find_created<'a>(
    write: &Write,
    outcome: &'a Result<JobSnapshot, UpstreamFailure>,
) -> Option<(&'a str, &'a JobSnapshot)> {
    let reply = outcome.as_ref().ok()?;
    let id = reply.id.as_deref().filter(|_| write.job.is_none())?;
    Some((id, reply))
}
