use quillgate::Operation;

use crate::analytics::organization_stub::WriteOutcome;
use crate::budget::reservation::{Reservation, ReservationOutcome};
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::machine::Event;
use crate::jobs::project_object::Project;
use crate::jobs::project_object::events::Stored;
use crate::jobs::resource::Resource;
use crate::jobs::store::idempotency::KeyReservation;
use crate::jobs::write::Write;
use crate::runtime::{HostResult, log_for_operator};
use crate::upstream::client::{Exchange, UpstreamResponse};
use crate::upstream::failure::{KeyOutcome, UpstreamFailure, reservation_outcome};
use crate::upstream::metrics::RequestMetrics;
use crate::upstream::request::{RequestIds, UpstreamRequest};
use crate::upstream::snapshot::Snapshot;

impl Project {
    pub(super) async fn write(
        &self,
        ids: &RequestIds,
        write: &Write,
    ) -> HostResult<(GatewayResponse, RequestMetrics)> {
        self.jobs.remember_project(&ids.project, write.resource())?;
        let reserved = match write.resource() {
            Resource::Job => self.database.transaction(|| self.reserve(ids, write))?,
            Resource::Deployment => self.reserve_in_organization(ids, write).await?,
        };
        let (key, reservation) = match reserved {
            Ok(reserved) => reserved,
            Err(refusal) => return Ok(refusal),
        };
        let was_stored = match &write.job {
            Some(id) => self.jobs.find(id)?.is_some(),
            None => false,
        };
        let Exchange { metrics, outcome } = self.send_write(ids, write, &reservation).await;
        let (response, key_outcome) = match &outcome {
            Ok(reply) => (
                GatewayResponse::json(reply.http_status, reply.text.as_str()),
                KeyOutcome::Store,
            ),
            Err(failure) => (
                GatewayResponse::problem(&failure.problem, &ids.id),
                failure.key_outcome,
            ),
        };
        let is_deleted = match &write.job {
            Some(id) => was_stored && self.jobs.find(id)?.is_none(),
            None => false,
        };
        let conclude = || {
            if write.resource() == Resource::Job {
                self.budget
                    .conclude(&reservation, reservation_outcome(&outcome))?;
            }
            self.keys.conclude(&key, key_outcome, &response)?;
            match &write.job {
                Some(id) if is_deleted => self.keys.forget_job(id),
                _ => Ok(()),
            }
        };
        let stored = self.database.transaction(|| {
            let change = self.store_write(write, &outcome)?;
            conclude()?;
            Ok(change)
        });
        // If storing the job fails, the transaction is rolled back. The outcomes of the key and of
        // the reservation are then stored separately.
        if stored.is_err()
            && let Err(error) = self.database.transaction(conclude)
        {
            self.conclude_in_organization(ids, write, &reservation, &outcome)
                .await;
            self.keys.conclude(&key, KeyOutcome::Unknown, &response)?;
            return Err(error);
        }
        self.conclude_in_organization(ids, write, &reservation, &outcome)
            .await;
        let published = async {
            match stored? {
                Some(stored) => self.publish_write(write, &stored).await,
                None => Ok(()),
            }
        };
        if let Err(error) = published.await {
            // Mintlify's response is known, so the caller still receives it.
            log_for_operator(&format!("the job could not be stored: {error}"));
        }
        let response = GatewayResponse {
            headers: response.headers.or(reservation.fields),
            ..response
        };
        let metrics = RequestMetrics {
            upstream: Some(metrics),
            budget_left: Some(reservation.left),
            ..RequestMetrics::default()
        };
        Ok((response, metrics))
    }

    /// If the write must not be sent, returns the response as the inner `Err`.
    fn reserve<'a>(
        &self,
        ids: &RequestIds,
        write: &'a Write,
    ) -> HostResult<Result<(KeyReservation<'a>, Reservation), (GatewayResponse, RequestMetrics)>>
    {
        let key = match self.keys.reserve(&ids.id, write)? {
            Ok(key) => key,
            Err(response) => return Ok(Err((response, RequestMetrics::default()))),
        };
        match self.budget.reserve(&write.budget, self.upstream.timeout)? {
            Ok(reservation) => Ok(Ok((key, reservation))),
            Err(problem) => {
                let response = GatewayResponse::problem(&problem, &ids.id);
                self.keys.conclude(&key, KeyOutcome::Release, &response)?;
                let metrics = RequestMetrics {
                    budget_left: Some(0),
                    ..RequestMetrics::default()
                };
                Ok(Err((response, metrics)))
            }
        }
    }

    /// Reserves the idempotency key, then the organization's budget. If this instance ends before
    /// the write is sent, the outcome of the key is unknown.
    async fn reserve_in_organization<'a>(
        &self,
        ids: &RequestIds,
        write: &'a Write,
    ) -> HostResult<Result<(KeyReservation<'a>, Reservation), (GatewayResponse, RequestMetrics)>>
    {
        let key = match self.keys.reserve(&ids.id, write)? {
            Ok(key) => key,
            Err(response) => return Ok(Err((response, RequestMetrics::default()))),
        };
        let reserved = self
            .organization
            .reserve_write(&ids.id, &write.budget)
            .await;
        let refusal = match reserved {
            Ok(Ok(reservation)) => return Ok(Ok((key, reservation))),
            Ok(Err(refusal)) => refusal,
            Err(error) => {
                log_for_operator(&error.to_string());
                GatewayResponse::problem(&Problem::object_unavailable(), &ids.id)
            }
        };
        self.keys.conclude(&key, KeyOutcome::Release, &refusal)?;
        let metrics = RequestMetrics {
            budget_left: Some(0),
            ..RequestMetrics::default()
        };
        Ok(Err((refusal, metrics)))
    }

    /// If the organization's object fails, the reservation counts until its hold ends.
    async fn conclude_in_organization(
        &self,
        ids: &RequestIds,
        write: &Write,
        reservation: &Reservation,
        outcome: &Result<Snapshot, UpstreamFailure>,
    ) {
        if write.resource() == Resource::Job {
            return;
        }
        let started = outcome.as_ref().ok();
        let is_sent = outcome.as_ref().err().is_none_or(|failure| failure.is_sent);
        let write = WriteOutcome {
            reservation: reservation.clone(),
            outcome: match reservation_outcome(outcome) {
                ReservationOutcome::Released if is_sent => ReservationOutcome::Counted,
                outcome => outcome,
            },
            project: ids.project.clone(),
            deployment: started.and_then(|snapshot| snapshot.id.clone()),
        };
        if let Err(error) = self.organization.conclude_write(&write).await {
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

    /// Returns `None` if the write failed or its response names no job.
    fn store_write(
        &self,
        write: &Write,
        outcome: &Result<Snapshot, UpstreamFailure>,
    ) -> HostResult<Option<Stored>> {
        let Ok(reply) = outcome else {
            return Ok(None);
        };
        if let Some(id) = &write.job {
            self.jobs.add_message(id, write)?;
            let event = Event::FollowedUp(self.state_of(reply));
            return Ok(Some(self.store_event(id, event, Some(reply), None)?));
        }
        let Some(id) = reply.id.as_deref() else {
            return Ok(None);
        };
        let event = Event::Created {
            state: self.state_of(reply),
            has_webhook: write.webhook.is_some(),
        };
        Ok(Some(self.store_event(
            id,
            event,
            Some(reply),
            Some(write),
        )?))
    }

    async fn publish_write(&self, write: &Write, stored: &Stored) -> HostResult<()> {
        let is_list_watched = self.publish(stored) > 0;
        let is_awaited = write.job.is_some() || write.webhook.is_some() || is_list_watched;
        if !is_awaited && self.alarm.get().is_some() {
            // No caller is waiting for the new job, so no poll is needed. The handler of the
            // pending alarm schedules the deletion of the job's record.
            return Ok(());
        }
        self.schedule().await
    }
}
