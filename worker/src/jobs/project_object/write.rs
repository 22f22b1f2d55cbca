//! Carries out writes: reserves the key and the budget, sends the request and records the outcome.

use quillgate::{JobId, Operation};

use crate::budget::store::{Claimant, Slot};
use crate::http::problem::Problem;
use crate::http::response::GatewayResponse;
use crate::jobs::events::ListEvent;
use crate::jobs::idempotency::{self, Verdict};
use crate::jobs::project_object::Project;
use crate::jobs::project_stub::{WriteCall, WriteReply};
use crate::jobs::store::idempotency::{Begun, IdempotencyStore};
use crate::jobs::write::Write;
use crate::log::format_operator_line;
use crate::runtime::{Call, HostError, HostResult, log_error, now};
use crate::upstream::breaker::Scope;
use crate::upstream::client::{Exchange, JobSnapshot};
use crate::upstream::failure::{UpstreamFailure, slot_outcome};
use crate::upstream::metrics::{ExchangeMetrics, RequestMetrics};
use crate::upstream::permits::Lane;
use crate::upstream::request::UpstreamRequest;
use crate::upstream::settlement::Settlement;

/// The decision whether a write is sent.
enum WriteAdmission {
    /// The budget has a slot, and the idempotency key is reserved.
    Granted(Slot, Begun),
    /// The budget is exhausted.
    Refused(Problem),
    /// The idempotency key is already stored.
    Repeated,
}

/// A write with its budget slot and its reserved idempotency key.
struct GrantedWrite<'a> {
    write: &'a Write,
    slot: Slot,
    begun: Begun,
}

/// A job that a write created and that is now stored.
struct CreatedJob<'a> {
    id: &'a str,
    event: Option<ListEvent>,
}

impl Project {
    /// Carries out a write unless its idempotency key or the budget prevents it.
    pub(super) async fn write(
        &self,
        WriteCall { call, write }: WriteCall,
    ) -> HostResult<WriteReply> {
        self.jobs.remember_project(&call.project)?;
        // Most keys are new, so a stored key is read only after the insert has failed.
        let admission = match self.admit(&write, |keys| keys.begin_first(&write))? {
            WriteAdmission::Repeated => {
                if let Some(response) = self.find_repeated(&call, &write)? {
                    return Ok(WriteReply {
                        response,
                        metrics: RequestMetrics::default(),
                    });
                }
                self.admit(&write, |keys| keys.begin_again(&write))?
            }
            first => first,
        };
        let (slot, begun) = match admission {
            WriteAdmission::Granted(slot, begun) => (slot, begun),
            WriteAdmission::Refused(problem) => {
                return Ok(WriteReply {
                    response: GatewayResponse::problem(&problem, &call.id),
                    metrics: RequestMetrics {
                        budget_left: Some(0),
                        ..RequestMetrics::default()
                    },
                });
            }
            WriteAdmission::Repeated => {
                return Err(HostError::new("an idempotency key that cannot be replaced"));
            }
        };
        let budget_left = Some(slot.left);
        let granted = GrantedWrite {
            write: &write,
            slot,
            begun,
        };
        let (response, upstream) = self.send_write(&call, granted).await?;
        Ok(WriteReply {
            response,
            metrics: RequestMetrics {
                upstream: Some(upstream),
                budget_left,
                ..RequestMetrics::default()
            },
        })
    }

    /// Returns the stored response or the problem for a repeated key. Returns `None` if the write may
    /// be sent.
    fn find_repeated(&self, call: &Call, write: &Write) -> HostResult<Option<GatewayResponse>> {
        let Some(key) = &write.key else {
            return Ok(None);
        };
        let Some(row) = self.keys.find(&write.caller, key)? else {
            return Ok(None);
        };
        let record = row.record();
        let verdict = idempotency::decide(Some(&record), &write.fingerprint, write.retry, now());
        Ok(match verdict {
            Verdict::Fresh | Verdict::Again => None,
            Verdict::Replay => Some(row.response().ok_or_else(|| {
                HostError::new("what is stored under an idempotency key cannot be read")
            })?),
            Verdict::Refused(problem) => Some(GatewayResponse::problem(&problem, &call.id)),
        })
    }

    /// Reserves the idempotency key and a budget slot in one transaction.
    fn admit(
        &self,
        write: &Write,
        reserve_key: impl Fn(&IdempotencyStore) -> HostResult<Option<Begun>>,
    ) -> HostResult<WriteAdmission> {
        let claimant = Claimant {
            policy: write.policy,
            caller: write.caller.clone(),
            quota: write.quota,
            ceilings: write.ceilings.clone(),
        };
        let mut reserved = None;
        let admitted = self.database.transaction(|| {
            let Some(begun) = reserve_key(&self.keys)? else {
                return Ok(WriteAdmission::Repeated);
            };
            Ok(match self.budget.reserve(&claimant)? {
                Ok(slot) => {
                    reserved = Some(slot.id);
                    WriteAdmission::Granted(slot, begun)
                }
                Err(refused) => {
                    self.keys.forget(&begun)?;
                    WriteAdmission::Refused(refused.problem)
                }
            })
        });
        if let (Err(_), Some(id)) = (&admitted, reserved) {
            self.budget.forget(id);
        }
        admitted
    }

    /// Sends a write, then records its outcome.
    async fn send_write(
        &self,
        call: &Call,
        GrantedWrite { write, slot, begun }: GrantedWrite<'_>,
    ) -> HostResult<(GatewayResponse, ExchangeMetrics)> {
        let Exchange { metrics, outcome } = self.exchange_write(call, write, &slot).await;
        let (response, settlement) = match &outcome {
            Ok(reply) => (
                GatewayResponse::json(reply.http_status, reply.text.as_str()),
                Settlement::Store,
            ),
            Err(failure) => (
                GatewayResponse::problem(&failure.problem, &call.id),
                failure.settlement,
            ),
        };
        let settle = || {
            self.budget.conclude(&slot, slot_outcome(&outcome))?;
            self.keys.end(&begun, settlement, &response)
        };
        let created = self.add_created_job(write, &outcome, settle);
        if !matches!(created, Some(Ok(_)))
            && let Err(error) = self.database.transaction(settle)
        {
            // The outcome was not stored. Mark it unknown, so that the key is neither in use nor free.
            self.keys.end(&begun, Settlement::Unknown, &response)?;
            return Err(error);
        }
        if let Err(error) = self.record_outcome(write, &outcome, created).await {
            // Mintlify's response is known, so the caller still receives it.
            log_error(&format_operator_line(&format!(
                "the ledger failed: {error}"
            )));
        }
        let headers = response.headers.or(slot.fields.into_headers());
        Ok((
            GatewayResponse {
                headers,
                ..response
            },
            metrics,
        ))
    }

    async fn exchange_write(
        &self,
        call: &Call,
        write: &Write,
        slot: &Slot,
    ) -> Exchange<JobSnapshot> {
        let request = UpstreamRequest {
            scope: Scope {
                operation: match write.job {
                    None => Operation::CreateAgentJob,
                    Some(_) => Operation::SendMessage,
                },
                project: call.project.clone(),
            },
            target: write.target.clone(),
            body: Some(write.body.clone()),
            traceparent: call.traceparent.clone(),
            tracestate: call.tracestate.clone(),
        };
        let permit = self.acquire(Lane::Write).await;
        let permit = permit.and_then(|permit| {
            if permit.has_waited {
                let postponed = self.budget.postpone(slot.id);
                postponed.map_err(|_| Problem::gate_unavailable())?;
            }
            Ok(permit)
        });
        self.exchange(permit, &request).await
    }

    /// Stores a created job and settles its key and slot in one transaction. On error, nothing is
    /// stored or settled. Returns `None` if no job was created.
    fn add_created_job<'a>(
        &self,
        write: &Write,
        outcome: &'a Result<JobSnapshot, UpstreamFailure>,
        settle: impl Fn() -> HostResult<()>,
    ) -> Option<HostResult<CreatedJob<'a>>> {
        let reply = outcome.as_ref().ok()?;
        let id = reply.id.as_deref().filter(|_| write.job.is_none())?;
        Some(self.database.transaction(|| {
            let event = self.add_job(id, write, reply)?;
            settle()?;
            Ok(CreatedJob { id, event })
        }))
    }

    async fn record_outcome(
        &self,
        write: &Write,
        outcome: &Result<JobSnapshot, UpstreamFailure>,
        created: Option<HostResult<CreatedJob<'_>>>,
    ) -> HostResult<()> {
        match (created, outcome) {
            (Some(created), _) => self.announce_job(write, created?).await,
            (None, Ok(reply)) => self.record_message(write, reply).await,
            (None, Err(_)) => Ok(()),
        }
    }

    /// Stores a created job within the current transaction.
    fn add_job(
        &self,
        id: &str,
        write: &Write,
        reply: &JobSnapshot,
    ) -> HostResult<Option<ListEvent>> {
        if JobId::new(id).is_err() {
            return Err(HostError::new("a job whose id cannot be part of a path"));
        }
        let event = self.jobs.add(id, write, reply)?;
        if write.webhook.is_some() {
            // The job may already have ended. Then no later change queues the webhook.
            self.announce_end(id)?;
        }
        Ok(event)
    }

    /// Broadcasts a created job and schedules its first poll.
    async fn announce_job(
        &self,
        write: &Write,
        CreatedJob { id, event }: CreatedJob<'_>,
    ) -> HostResult<()> {
        let is_watched = self.broadcast_list(event.as_slice()) > 0;
        if write.webhook.is_some() {
            self.plan_webhook_poll(id)?;
        } else if self.alarm.get().is_some() && !is_watched {
            // No caller is waiting for the new job, and any alarm deletes expired records.
            return Ok(());
        }
        self.schedule().await
    }

    /// Records a follow-up message, which starts its job again.
    async fn record_message(&self, write: &Write, reply: &JobSnapshot) -> HostResult<()> {
        let Some(id) = &write.job else {
            return Ok(());
        };
        self.overtake_poll(id);
        self.record(id, reply, Some(write))?;
        self.jobs.mark_begun(id)?;
        self.plan_webhook_poll(id)?;
        self.schedule().await
    }
}
