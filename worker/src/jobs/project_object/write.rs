use quillgate::Operation;

use crate::analytics::organization_stub::{OrganizationStub, WriteOutcome};
use crate::budget::reservation::{Reservation, ReservationOutcome};
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::machine::Event;
use crate::jobs::project_object::Project;
use crate::jobs::project_object::events::Stored;
use crate::jobs::project_object::watch::LIST_TAG;
use crate::jobs::resource::Resource;
use crate::jobs::store::idempotency::KeyReservation;
use crate::jobs::write::Write;
use crate::runtime::{HostResult, log_for_operator};
use crate::upstream::client::{Exchange, UpstreamResponse};
use crate::upstream::failure::{KeyOutcome, UpstreamFailure, reservation_outcome};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::{RequestIds, UpstreamRequest};
use crate::upstream::snapshot::Snapshot;

type Reply = (GatewayResponse, RequestMetrics);

impl Project {
    pub(super) async fn write(&self, ids: &RequestIds, write: &Write) -> HostResult<Reply> {
        self.jobs.remember_project(&ids.project, write.resource())?;
        let (key, reservation) = match self.reserve(ids, write).await? {
            Ok(reserved) => reserved,
            Err(refusal) => return Ok(refusal),
        };
        let was_stored = match &write.job {
            Some(id) => self.jobs.find(id)?.is_some(),
            None => false,
        };
        let Exchange { metrics, outcome } = self.send_write(ids, write, &reservation).await;
        let failure = outcome.as_ref().err();
        let key_outcome = failure.map_or(KeyOutcome::Store, |failure| failure.key_outcome);
        let mut response = match &outcome {
            Ok(reply) => GatewayResponse::json(reply.http_status, reply.text.as_str()),
            Err(failure) => GatewayResponse::problem(&failure.problem, &ids.id),
        };
        let conclude = || {
            if write.resource() == Resource::Job {
                self.budget
                    .conclude(&reservation, reservation_outcome(&outcome))?;
            }
            self.keys.conclude(&key, key_outcome, &response)?;
            match &write.job {
                // The record has been deleted since.
                Some(id) if was_stored && self.jobs.find(id)?.is_none() => self.keys.forget_job(id),
                _ => Ok(()),
            }
        };
        let stored = self.database.transaction(|| {
            let stored = match &outcome {
                Ok(reply) => self.store_write(write, reply)?,
                Err(failure) if failure.is_uncertain() => self.store_lost_follow_up(write)?,
                Err(_) => None,
            };
            conclude()?;
            Ok(stored)
        });
        // If storing the job fails, the transaction is rolled back. The outcomes of the key and of
        // the reservation are then stored separately.
        let concluded = match &stored {
            Ok(_) => Ok(()),
            Err(_) => self.database.transaction(conclude).or_else(|error| {
                self.keys.conclude(&key, KeyOutcome::Unknown, &response)?;
                Err(error)
            }),
        };
        // During the calls below, another request can reserve the key.
        drop(key);
        // Before the call of the organization's object, so that a crash during it loses no alarm.
        let published = match stored {
            Ok(Some(stored)) => self.publish_write(write, &stored).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = published {
            // Mintlify's response is known, so the caller still receives it.
            log_for_operator(&format!("the job could not be stored: {error}"));
        }
        if write.resource() == Resource::Deployment {
            self.conclude_in_organization(&ids.project, &reservation, &outcome)
                .await;
        }
        concluded?;
        response.headers = response.headers.or(reservation.fields);
        let metrics = RequestMetrics {
            upstream: Some(metrics),
            budget_left: Some(reservation.left),
            ..RequestMetrics::default()
        };
        Ok((response, metrics))
    }

    /// Reserves the idempotency key and the budget. If the write must not be sent, returns the
    /// response as the inner `Err`.
    async fn reserve<'a>(
        &self,
        ids: &RequestIds,
        write: &'a Write,
    ) -> HostResult<Result<(KeyReservation<'a>, Reservation), Reply>> {
        let reserve_key = || self.keys.reserve(&ids.id, write);
        let refuse = |response, budget_left| {
            let metrics = RequestMetrics {
                budget_left,
                ..RequestMetrics::default()
            };
            Ok(Err((response, metrics)))
        };
        let conclude = |key, reserved| match reserved {
            Ok(reservation) => Ok(Ok((key, reservation))),
            Err(refusal) => {
                self.keys.conclude(&key, KeyOutcome::Release, &refusal)?;
                refuse(refusal, Some(0))
            }
        };
        let respond = |problem: Problem| GatewayResponse::problem(&problem, &ids.id);
        if write.resource() == Resource::Job {
            return self.database.transaction(|| match reserve_key()? {
                Ok(key) => {
                    let reserved = self.budget.reserve(&write.budget, self.upstream.timeout)?;
                    conclude(key, reserved.map_err(respond))
                }
                Err(replay) => refuse(replay, None),
            });
        }
        // If this instance ends before the write is sent, the outcome of the key is unknown.
        let key = match reserve_key()? {
            Ok(key) => key,
            Err(replay) => return refuse(replay, None),
        };
        let reserved = async {
            let organization = OrganizationStub::new(&self.env)?;
            organization.reserve_write(&ids.id, &write.budget).await
        };
        let reserved = reserved.await.unwrap_or_else(|error| {
            log_for_operator(&error.to_string());
            Err(respond(Problem::object_unavailable()))
        });
        conclude(key, reserved)
    }

    /// If the organization's object fails, the reservation counts until its hold ends.
    async fn conclude_in_organization(
        &self,
        project: &str,
        reservation: &Reservation,
        outcome: &Result<Snapshot, UpstreamFailure>,
    ) {
        let is_sent = outcome.as_ref().err().is_none_or(|failure| failure.is_sent);
        let write = WriteOutcome {
            reservation: reservation.clone(),
            outcome: match reservation_outcome(outcome) {
                ReservationOutcome::Released if is_sent => ReservationOutcome::Counted,
                outcome => outcome,
            },
            project: project.to_owned(),
            deployment: outcome.as_ref().ok().and_then(|started| started.id.clone()),
        };
        let concluded = async {
            let organization = OrganizationStub::new(&self.env)?;
            organization.conclude_write(&write).await
        };
        if let Err(error) = concluded.await {
            log_for_operator(&format!("the reservation could not be concluded: {error}"));
        }
    }

    async fn send_write(
        &self,
        ids: &RequestIds,
        write: &Write,
        reservation: &Reservation,
    ) -> Exchange<Snapshot> {
        let request = UpstreamRequest {
            operation: write.operation,
            ids,
            target: &write.target,
            body: write.body.as_deref(),
        };
        let postpone = || match write.resource() {
            Resource::Job => self.budget.postpone(reservation.id),
            Resource::Deployment => Ok(()),
        };
        let sent = self
            .connections
            .send(&self.upstream, &request, postpone, &mut || true)
            .await;
        let read = |UpstreamResponse { head, body }| match write.operation {
            Operation::CreateDeployment | Operation::CreatePreview => {
                Snapshot::read_started(head.status, &body)
            }
            Operation::RunAutomation => Snapshot::read_run(head.status, &body),
            _ => Snapshot::read_job(head.status, &body, write.job.as_deref()),
        };
        sent.read(&request, read)
    }

    /// Returns `None` if the response names no job.
    fn store_write(&self, write: &Write, reply: &Snapshot) -> HostResult<Option<Stored>> {
        let state = self.state_of(reply);
        let (id, event, creation) = match (&write.job, &reply.id) {
            (Some(id), _) => {
                self.jobs.add_message(id, write)?;
                (id, Event::FollowedUp(Some(state)), None)
            }
            (None, Some(id)) => {
                let has_webhook = write.webhook.is_some();
                (id, Event::Created { state, has_webhook }, Some(write))
            }
            (None, None) => return Ok(None),
        };
        let stored = self.store_event(id, event, Some(reply), creation)?;
        Ok(Some(stored))
    }

    /// Mintlify may have processed the follow-up, so the job may be active again.
    fn store_lost_follow_up(&self, write: &Write) -> HostResult<Option<Stored>> {
        let restart = |id| self.store_event(id, Event::FollowedUp(None), None, None);
        write.job.as_deref().map(restart).transpose()
    }

    async fn publish_write(&self, write: &Write, stored: &Stored) -> HostResult<()> {
        self.publish(stored);
        let is_list_watched = !self.find_watchers(LIST_TAG).is_empty();
        let is_awaited = write.job.is_some() || write.webhook.is_some() || is_list_watched;
        // If no caller is waiting for the new job, no poll is needed, and the handler of the pending
        // alarm schedules the deletion of the job's record.
        if is_awaited || self.alarm.get().is_none() {
            self.schedule().await?;
        }
        Ok(())
    }
}
