//! The budgets of deployments, previews and automations, which all projects share, and the project
//! of each deployment that the gateway started.

use quillgate::Millis;

use super::Organization;
use crate::analytics::organization_stub::WriteOutcome;
use crate::budget::reservation::{BudgetRequest, Reservation};
use crate::http::response::GatewayResponse;
use crate::runtime::{HostResult, now};

pub(super) const DEPLOYMENT_TABLE: &str = "CREATE TABLE deployment (
  row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, project TEXT NOT NULL, at INTEGER NOT NULL
)";

/// How long the project of a deployment is stored: 90 days.
const DEPLOYMENT_LIFE: Millis = Millis::from_seconds(90 * 86_400);

impl Organization {
    pub(super) fn reserve_write(
        &self,
        request_id: &str,
        request: &BudgetRequest,
    ) -> HostResult<Result<Reservation, GatewayResponse>> {
        // The write may wait for a connection before its timeout begins.
        let hold = Millis(2 * self.upstream.timeout.0);
        let reserved = self
            .database
            .transaction(|| self.budget.reserve(request, hold))?;
        Ok(reserved.map_err(|problem| GatewayResponse::problem(&problem, request_id)))
    }

    pub(super) fn conclude_write(&self, write: &WriteOutcome) -> HostResult<()> {
        self.database.transaction(|| {
            self.budget.conclude(&write.reservation, write.outcome)?;
            let Some(id) = &write.deployment else {
                return Ok(());
            };
            let expired = "DELETE FROM deployment
                WHERE row IN (SELECT row FROM deployment ORDER BY row LIMIT 2) AND at <= ?";
            let now = now();
            self.database
                .execute(expired, &[&now.since(DEPLOYMENT_LIFE)])?;
            let insert = "INSERT OR REPLACE INTO deployment (id, project, at) VALUES (?, ?, ?)";
            self.database.execute(insert, &[&id, &write.project, &now])
        })
    }

    pub(super) fn find_deployment(&self, id: &str) -> HostResult<Option<String>> {
        let query = "SELECT project FROM deployment WHERE id = ?";
        self.database.value(query, &[&id])
    }
}
