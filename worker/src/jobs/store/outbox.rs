//! The outbox stores each webhook until its delivery succeeds or is given up.

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Millis;
use quillgate::date::parse_retry_after;
use serde::Deserialize;

use crate::http::response::{HeaderFields, JSON};
use crate::jobs::job_settings::WebhookSettings;
use crate::jobs::resource::Resource;
use crate::jobs::webhook::queue::{DeliveryQueue, LEASE, Waiting};
use crate::jobs::webhook::{self, JobEnd, Next};
use crate::runtime::{Database, HostResult, log_error, log_for_operator, new_uuid, now, random};
use crate::upstream::connections::Connections;
use crate::upstream::head::UpstreamHead;
use crate::upstream::permits::ConnectionClass;
use crate::upstream::request::USER_AGENT;
use crate::upstream::transport::{Caching, Outgoing, send};

/// Standard Webhooks recommends 15 to 30 s. Also the timeout of the wait for a permit.
const TIME_LIMIT: Millis = Millis::from_seconds(20);
const BUSY_PAUSE: Millis = Millis::from_seconds(5);
const IS_OF_JOB: &str = "CASE WHEN json_valid(job)
      THEN ? IN (json_extract(job, '$.id'), json_extract(job, '$._id')) END";

#[derive(Deserialize)]
struct OutboxRow {
    url: String,
    status: String,
    job: String,
    ended_at: String,
    /// Includes the current one.
    attempts: u32,
}

#[derive(Deserialize)]
pub struct LeasedWebhook {
    id: String,
    receiver: String,
}

pub struct Outbox {
    database: Rc<Database>,
    settings: WebhookSettings,
    connections: Connections,
    queue: RefCell<DeliveryQueue>,
}

impl Outbox {
    pub fn open(
        database: Rc<Database>,
        settings: WebhookSettings,
        connections: Connections,
    ) -> Self {
        Self {
            database,
            settings,
            connections,
            queue: RefCell::default(),
        }
    }

    /// The next alarm delivers the webhook.
    pub fn add(&self, url: &str, end: JobEnd, job: &str) -> HostResult<()> {
        let id = format!("msg_{}", new_uuid().replace('-', ""));
        let insert = "INSERT INTO outbox (id, url, status, job, ended_at, due)
            VALUES (?1, ?2, ?3, ?4, strftime('%Y-%m-%dT%H:%M:%fZ', ?5 / 1000.0, 'unixepoch'), ?5)";
        self.database
            .execute(insert, &[&id, &url, &end, &job, &now()])
    }

    /// After the first attempt, the webhook stays unchanged, because all attempts must send the
    /// same message.
    pub fn update_unsent(&self, id: &str, end: JobEnd, job: &str) -> HostResult<()> {
        let update =
            format!("UPDATE outbox SET job = ? WHERE status = ? AND attempts = 0 AND {IS_OF_JOB}");
        self.database.execute(&update, &[&job, &end, &id])
    }

    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        Ok(self.queue.borrow().next_due(&self.receivers()?, now()))
    }

    /// Their number is bounded by the hosts that the operator allows.
    fn receivers(&self) -> HostResult<Vec<Waiting>> {
        self.database.rows(include_str!("sql/receivers.sql"), &[])
    }

    pub fn waiting(&self) -> HostResult<u64> {
        let count = self.database.value("SELECT count(*) FROM outbox", &[])?;
        Ok(count.unwrap_or(0))
    }

    /// Leases the first due webhook of each receiver that [`DeliveryQueue::choose`] chooses. After
    /// an error, leases none: no delivery would end the others.
    pub fn take_due(&self) -> HostResult<Vec<LeasedWebhook>> {
        let waiting = self.receivers()?;
        if waiting.is_empty() {
            return Ok(Vec::new());
        }
        let update = "UPDATE outbox SET due = ? WHERE id =
            (SELECT id FROM outbox WHERE receiver = ? ORDER BY due LIMIT 1)
            RETURNING id, receiver";
        let (now, database) = (now(), &self.database);
        let (taken, queue) = database.transaction(|| {
            let mut queue = self.queue.borrow().clone();
            let mut taken: Vec<LeasedWebhook> = Vec::new();
            while let Some(receiver) = queue.choose(&waiting, now) {
                taken.extend(database.rows(update, &[&now.plus(LEASE), &receiver])?);
                queue.begin(receiver, now);
            }
            Ok((taken, queue))
        })?;
        *self.queue.borrow_mut() = queue;
        Ok(taken)
    }

    /// Sends a leased webhook at most once. Schedules a retry without sending if no connection is
    /// free in time. Removes the webhook if the configuration no longer allows its address.
    pub async fn deliver(
        &self,
        webhook: &LeasedWebhook,
        project: &str,
        resource: Resource,
    ) -> HostResult<()> {
        let delivered = self.attempt(webhook, project, resource).await;
        self.queue.borrow_mut().finish(&webhook.receiver, now());
        delivered
    }

    async fn attempt(
        &self,
        LeasedWebhook { id, receiver }: &LeasedWebhook,
        project: &str,
        resource: Resource,
    ) -> HostResult<()> {
        let class = ConnectionClass::Webhook;
        let Ok(_permit) = self.connections.acquire(class, TIME_LIMIT).await else {
            return self.set_due(id, now().plus(BUSY_PAUSE));
        };
        // Count the attempt before sending it. Even if the object then crashes, `update_unsent`
        // does not change a message that the receiver may already have.
        let update = "UPDATE outbox SET attempts = attempts + 1, due = ? WHERE id = ?
            RETURNING url, status, job, ended_at, attempts";
        let lease_end = now().plus(LEASE);
        let row: Option<OutboxRow> = self.database.first(update, &[&lease_end, &id])?;
        // An operator may have deleted the job's record and its webhooks during the wait.
        let Some(row) = row else {
            return Ok(());
        };
        // The settings may have changed since the job was created.
        let Some(url) = webhook::recheck_address(&row.url, &self.settings) else {
            log_for_operator(&format!(
                "webhook {id} was dropped: the configuration no longer allows its address"
            ));
            return self.remove(id);
        };
        self.queue.borrow_mut().begin_request(receiver, now());
        let head = self.send(id, &row, project, resource, &url).await;
        let status = head.as_ref().map(|head| head.status);
        let now = now();
        let wait = head.and_then(|UpstreamHead { headers, .. }| {
            parse_retry_after(headers.get("retry-after")?, headers.get("date"), now)
        });
        match webhook::plan_next(row.attempts, status, wait, random()) {
            Next::Again(wait) => return self.set_due(id, now.plus(wait)),
            Next::Done => {}
            Next::GivenUp => log_error(&webhook::format_given_up(id, status)),
        }
        self.remove(id)
    }

    pub fn forget_job(&self, id: &str) -> HostResult<()> {
        let delete = format!("DELETE FROM outbox WHERE {IS_OF_JOB}");
        self.database.execute(&delete, &[&id])
    }

    fn set_due(&self, id: &str, due: Millis) -> HostResult<()> {
        let update = "UPDATE outbox SET due = ? WHERE id = ?";
        self.database.execute(update, &[&due, &id])
    }

    fn remove(&self, id: &str) -> HostResult<()> {
        let delete = "DELETE FROM outbox WHERE id = ?";
        self.database.execute(delete, &[&id])
    }

    async fn send(
        &self,
        id: &str,
        row: &OutboxRow,
        project: &str,
        resource: Resource,
        url: &str,
    ) -> Option<UpstreamHead> {
        let seconds = now().0 / 1000;
        let body = webhook::format_event(
            resource,
            &row.status,
            &row.ended_at,
            (project, url),
            &row.job,
        );
        let keys = webhook::derive_keys(&self.settings.secrets, project, url);
        let signature = webhook::sign(&keys, id, seconds, &body);
        let headers = HeaderFields::default()
            .with("content-type", JSON)
            .with("user-agent", USER_AGENT)
            .with("webhook-id", id.to_owned())
            .with("webhook-timestamp", seconds.to_string())
            .with("webhook-signature", signature);
        let sent = send(Outgoing {
            method: "POST",
            url,
            headers,
            body: Some(&body),
            caching: Caching::Bypass,
            time: TIME_LIMIT,
        });
        Some(sent.await.ok()?.head)
    }
}
