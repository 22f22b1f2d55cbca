//! Webhooks that are still to be delivered, after Standard Webhooks.

use std::cell::RefCell;
use std::rc::Rc;

use quillgate::Millis;

use super::job_store::iso_8601;
use crate::config::Config;
use crate::jobs::webhook::{self, Event, JobEnd, Next};
use crate::log;
use crate::permits::Lane;
use crate::platform::{
    Connections, Database, HostResult, Outgoing, log_error, new_uuid, now, number, random, row,
    send, text,
};
use crate::response::{HeaderFields, JSON};
use crate::upstream::USER_AGENT;

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
/// When a webhook that was being sent as the object ended is sent again: after the time of its
/// first retry.
const LEASE: Millis = Millis::from_seconds(25);
/// How many are taken at once.
const AT_ONCE: u64 = 6;
/// When a webhook for which there was no connection is due again.
const BUSY_PAUSE: Millis = Millis::from_seconds(5);

row! {
/// A webhook that is still to be delivered.
#[derive(Debug, Clone)]
pub struct OutboxRow {
    id: String,
    url: String,
    status: String,
    job: String,
    moment: String,
    attempts: u32,
}
}

row! {
    struct CountRow {
        count: u64,
    }
}

/// What a receiver answered.
struct Receipt {
    /// `None` when there was no answer in time.
    status: Option<u16>,
    retry_after: Option<String>,
}

/// The webhooks of a project.
pub struct Outbox {
    database: Rc<Database>,
    config: Rc<Config>,
    connections: Connections,
    /// What is being sent, so that nothing is sent twice at a time.
    sending: RefCell<Vec<String>>,
}

impl Outbox {
    /// The webhooks as they are stored.
    pub const fn open(
        database: Rc<Database>,
        config: Rc<Config>,
        connections: Connections,
    ) -> Self {
        Self {
            database,
            config,
            connections,
            sending: RefCell::new(Vec::new()),
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

    /// When the next is due; `None` when there is none.
    pub fn next_due(&self) -> HostResult<Option<Millis>> {
        let query = "SELECT min(due) AS due FROM outbox";
        self.database.first_due(query)
    }

    /// How many are waiting.
    pub fn waiting(&self) -> HostResult<u64> {
        let query = "SELECT count(*) AS count FROM outbox";
        let row: Option<CountRow> = self.database.first(query, [])?;
        Ok(row.map_or(0, |row| row.count))
    }

    /// Takes what is due, to be sent by [`Self::deliver`].
    pub fn take_due(&self) -> HostResult<Vec<OutboxRow>> {
        let now = now();
        let query = "SELECT id, url, status, job, moment, attempts FROM outbox
            WHERE due <= ? ORDER BY due LIMIT ?";
        let mut rows: Vec<OutboxRow> = self
            .database
            .rows(query, [number(now.0), number(AT_ONCE)])?;
        rows.retain(|row| !self.sending.borrow().contains(&row.id));
        self.database.transaction(|| {
            for row in &rows {
                // Should the object end meanwhile, it is sent again after that.
                self.set_due(&row.id, row.attempts, now.plus(LEASE))?;
            }
            Ok(())
        })?;
        let ids = rows.iter().map(|row| row.id.clone());
        self.sending.borrow_mut().extend(ids);
        Ok(rows)
    }

    /// Sends one, and decides what follows.
    pub async fn deliver(&self, row: OutboxRow, project: &str) -> HostResult<()> {
        let permit = self.connections.acquire(Lane::Webhook, TIME_LIMIT).await;
        if permit.is_err() {
            // Not an attempt: nothing was sent.
            self.sending.borrow_mut().retain(|id| *id != row.id);
            return self.set_due(&row.id, row.attempts, now().plus(BUSY_PAUSE));
        }
        let sent = self.send(&row, project).await;
        drop(permit);
        self.sending.borrow_mut().retain(|id| *id != row.id);
        let Some(receipt) = sent else {
            log_error(&log::format_dropped_webhook(&row.id));
            return self.remove(&row.id);
        };
        let attempts = row.attempts + 1;
        let now = now();
        let wait = receipt.retry_after.as_deref();
        let wait = wait.and_then(|wait| quillgate::date::parse_retry_after(wait, now));
        match webhook::plan_next(attempts, receipt.status, wait, random()) {
            Next::Again(wait) => self.set_due(&row.id, attempts, now.plus(wait)),
            Next::Done => self.remove(&row.id),
            Next::GivenUp => {
                log_error(&log::format_given_up_webhook(&row.id, receipt.status));
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

    /// Sends one; `None` when the configuration no longer allows its address.
    async fn send(&self, row: &OutboxRow, project: &str) -> Option<Receipt> {
        let seconds = now().0 / 1000;
        // What may be sent to whom can have changed since the job was created.
        let url = webhook::recheck_address(&row.url, &self.config.webhook)?;
        let body = Event {
            end: JobEnd::from_name(&row.status)?,
            timestamp: &row.moment,
            project,
            url: &url,
            job: &row.job,
        }
        .to_json();
        let keys = webhook::derive_keys(&self.config.webhook.secrets, project, &url);
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
