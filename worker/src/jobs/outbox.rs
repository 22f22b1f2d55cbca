//! Webhooks that are still to be delivered, after Standard Webhooks.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use quillgate::Millis;
use serde::Deserialize;
use wasm_bindgen::JsValue;

use crate::http::response::{HeaderFields, JSON};
use crate::jobs::job_store::iso_8601;
use crate::jobs::log::{format_dropped_webhook, format_given_up_webhook};
use crate::jobs::settings::WebhookSettings;
use crate::jobs::webhook;
use crate::jobs::webhook::{Event, JobEnd, Next};
use crate::runtime::{Database, HostResult, log_error, new_uuid, now, number, random, text};
use crate::upstream::connections::Connections;
use crate::upstream::permits::Lane;
use crate::upstream::request::USER_AGENT;
use crate::upstream::transport::{Outgoing, send};

/// The table, the fourth step of the project's object.
pub const OUTBOX_TABLES: &str = "
  CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    status TEXT NOT NULL,
    job TEXT NOT NULL,
    moment TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (due);
";

/// How long a receiver may take: 15 to 30 s, says Standard Webhooks.
const TIME_LIMIT: Millis = Millis::from_seconds(20);
/// How long a delivery is leased. Longer than the wait for a permit and longer than
/// [`TIME_LIMIT`]: an object that ends meanwhile sends the webhook again.
const LEASE: Millis = Millis::from_seconds(25);
/// The maximum number of deliveries in flight, including those that wait for a permit.
const MAX_IN_FLIGHT: usize = 6;
/// The minimum wait before an alarm that is set for the end of a lease.
const MIN_LEASE_PAUSE: Millis = Millis::from_seconds(1);
/// When a webhook for which there was no connection is due again.
const BUSY_PAUSE: Millis = Millis::from_seconds(5);

/// A webhook that is still to be delivered.
#[derive(Debug, Clone, Deserialize)]
pub struct OutboxRow {
    id: String,
    url: String,
    status: String,
    job: String,
    moment: String,
    attempts: u32,
}

#[derive(Deserialize)]
struct CountRow {
    count: u64,
}

/// What a receiver answered.
struct Receipt {
    /// `None` when there was no answer in time.
    status: Option<u16>,
    retry_after: Option<String>,
}

/// The result of one attempt to deliver a webhook.
enum Attempt {
    /// No connection was free, so nothing was sent.
    Busy,
    /// The configuration no longer allows the address.
    Forbidden,
    /// The request was sent.
    Sent(Receipt),
}

/// The webhooks of a project.
pub struct Outbox {
    database: Rc<Database>,
    settings: WebhookSettings,
    connections: Connections,
    /// The deliveries in flight, and when the lease of each ends.
    in_flight: RefCell<HashMap<String, Millis>>,
}

impl Outbox {
    /// The webhooks as they are stored.
    pub fn open(
        database: Rc<Database>,
        settings: WebhookSettings,
        connections: Connections,
    ) -> Self {
        Self {
            database,
            settings,
            connections,
            in_flight: RefCell::default(),
        }
    }

    /// Announces a job's end to an address, as soon as the alarm comes.
    pub fn add(&self, url: &str, end: JobEnd, job: &str) -> HostResult<()> {
        let id = ["msg_", &new_uuid().replace('-', "")].concat();
        let now = now();
        let insert = "INSERT INTO outbox (id, url, status, job, moment, due)
            VALUES (?, ?, ?, ?, ?, ?)";
        let row = [
            text(&id),
            text(url),
            text(end.as_str()),
            text(job),
            text(&iso_8601(now)),
            number(now.0),
        ];
        self.database.execute(insert, row)
    }

    /// Returns when the alarm next has work: a waiting webhook is due, or a lease ends.
    ///
    /// While [`MAX_IN_FLIGHT`] deliveries are in flight, waiting webhooks don't count. The end of
    /// a delivery schedules the alarm again.
    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        let in_flight = self.in_flight.borrow();
        // A delivery that outlives its lease must not make the alarm fire continuously.
        let earliest = now().plus(MIN_LEASE_PAUSE);
        let lease_end = in_flight.values().min().map(|end| (*end).max(earliest));
        if in_flight.len() >= MAX_IN_FLIGHT {
            return Ok(lease_end);
        }
        let query = "SELECT min(due) AS due FROM outbox
            WHERE id NOT IN (SELECT value FROM json_each(?))";
        let waiting = self.database.first_due(query, [list_ids(&in_flight)])?;
        Ok(waiting.into_iter().chain(lease_end).min())
    }

    /// How many are waiting.
    pub fn waiting(&self) -> HostResult<u64> {
        let query = "SELECT count(*) AS count FROM outbox";
        let row: Option<CountRow> = self.database.first(query, [])?;
        Ok(row.map_or(0, |row| row.count))
    }

    /// Leases the webhooks that are due and not in flight, for [`Self::deliver`] to send.
    pub fn take_due(&self) -> HostResult<Vec<OutboxRow>> {
        let now = now();
        let mut in_flight = self.in_flight.borrow_mut();
        let room = MAX_IN_FLIGHT.saturating_sub(in_flight.len());
        let query = "SELECT id, url, status, job, moment, attempts FROM outbox
            WHERE due <= ? AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due LIMIT ?";
        let values = [number(now.0), list_ids(&in_flight), number(room as u64)];
        let rows: Vec<OutboxRow> = self.database.rows(query, values)?;
        let lease_end = now.plus(LEASE);
        self.database.transaction(|| {
            for row in &rows {
                self.set_due(&row.id, row.attempts, lease_end)?;
            }
            Ok(())
        })?;
        in_flight.extend(rows.iter().map(|row| (row.id.clone(), lease_end)));
        Ok(rows)
    }

    /// Sends a leased webhook once, then removes it or sets when it is retried.
    pub async fn deliver(&self, row: OutboxRow, project: &str) -> HostResult<()> {
        let receipt = self.attempt(&row, project).await;
        self.in_flight.borrow_mut().remove(&row.id);
        match receipt? {
            Attempt::Busy => self.set_due(&row.id, row.attempts, now().plus(BUSY_PAUSE)),
            Attempt::Forbidden => {
                log_error(&format_dropped_webhook(&row.id));
                self.remove(&row.id)
            }
            Attempt::Sent(receipt) => self.conclude(&row, &receipt),
        }
    }

    /// Waits for a permit, renews the lease, and sends.
    async fn attempt(&self, row: &OutboxRow, project: &str) -> HostResult<Attempt> {
        let permit = self.connections.acquire(Lane::Webhook, TIME_LIMIT).await;
        let Ok(_permit) = permit else {
            return Ok(Attempt::Busy);
        };
        let lease_end = now().plus(LEASE);
        self.set_due(&row.id, row.attempts, lease_end)?;
        self.in_flight
            .borrow_mut()
            .insert(row.id.clone(), lease_end);
        let sent = self.send(row, project).await;
        Ok(sent.map_or(Attempt::Forbidden, Attempt::Sent))
    }

    /// Handles a receiver's response, or its absence.
    fn conclude(&self, row: &OutboxRow, receipt: &Receipt) -> HostResult<()> {
        let attempts = row.attempts + 1;
        let now = now();
        let wait = receipt.retry_after.as_deref();
        let wait = wait.and_then(|wait| quillgate::date::parse_retry_after(wait, now));
        match webhook::plan_next(attempts, receipt.status, wait, random()) {
            Next::Again(wait) => self.set_due(&row.id, attempts, now.plus(wait)),
            Next::Done => self.remove(&row.id),
            Next::GivenUp => {
                log_error(&format_given_up_webhook(&row.id, receipt.status));
                self.remove(&row.id)
            }
        }
    }

    /// Drops what is waiting of a job.
    pub fn forget_job(&self, id: &str) -> HostResult<()> {
        let delete = "DELETE FROM outbox
            WHERE CASE WHEN json_valid(job) THEN json_extract(job, '$.id') END = ?";
        self.database.execute(delete, [text(id)])
    }

    fn set_due(&self, id: &str, attempts: u32, due: Millis) -> HostResult<()> {
        let update = "UPDATE outbox SET attempts = ?, due = ? WHERE id = ?";
        let row = [number(attempts.into()), number(due.0), text(id)];
        self.database.execute(update, row)
    }

    fn remove(&self, id: &str) -> HostResult<()> {
        let delete = "DELETE FROM outbox WHERE id = ?";
        self.database.execute(delete, [text(id)])
    }

    /// Sends a webhook. Returns `None` if the configuration no longer allows its address.
    async fn send(&self, row: &OutboxRow, project: &str) -> Option<Receipt> {
        let seconds = now().0 / 1000;
        // What may be sent to whom can have changed since the job was created.
        let url = webhook::recheck_address(&row.url, &self.settings)?;
        let body = Event {
            end: JobEnd::from_name(&row.status)?,
            timestamp: &row.moment,
            project,
            url: &url,
            job: &row.job,
        }
        .to_json();
        let keys = webhook::derive_keys(&self.settings.secrets, project, &url);
        let headers = HeaderFields::default()
            .with("content-type", JSON)
            .with("user-agent", USER_AGENT)
            .with("webhook-id", row.id.clone())
            .with("webhook-timestamp", seconds.to_string())
            .with(
                "webhook-signature",
                webhook::sign(&keys, &row.id, seconds, &body),
            );
        let sent = send(Outgoing {
            method: "POST",
            url: &url,
            headers,
            body: Some(&body),
            time: TIME_LIMIT,
            longest: 0,
        })
        .await;
        Some(match sent {
            Err(_) => Receipt {
                status: None,
                retry_after: None,
            },
            Ok(message) => {
                let receipt = Receipt {
                    status: Some(message.head.status),
                    retry_after: message.head.retry_after.clone(),
                };
                message.discard();
                receipt
            }
        })
    }
}

/// The ids of the deliveries in flight, as a JSON array that SQL reads with `json_each`.
fn list_ids(in_flight: &HashMap<String, Millis>) -> JsValue {
    let ids: Vec<_> = in_flight.keys().collect();
    text(&crate::json::to_text(&ids))
}
