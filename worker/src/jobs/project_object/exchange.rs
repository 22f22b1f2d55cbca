//! Sends requests about agent jobs to Mintlify.

use crate::http::problem::Problem;
use crate::jobs::project_object::Project;
use crate::upstream::client::{Exchange, JobSnapshot, UpstreamClient};
use crate::upstream::connections::Permit;
use crate::upstream::permits::Lane;
use crate::upstream::request::UpstreamRequest;

impl Project {
    /// Waits for a connection, at most as long as a request may take.
    pub(super) async fn acquire(&self, lane: Lane) -> Result<Permit, Problem> {
        let time = self.upstream.timeout;
        self.connections.acquire(lane, time).await
    }

    /// Sends a request and holds its permit until the response is complete.
    pub(super) async fn exchange(
        &self,
        permit: Result<Permit, Problem>,
        request: &UpstreamRequest,
    ) -> Exchange<JobSnapshot> {
        match permit {
            Ok(_held) => {
                let client = UpstreamClient::new(&self.upstream);
                let sent = client.send(request, &mut || true).await;
                sent.read(request, JobSnapshot::read)
            }
            Err(problem) => Exchange::not_sent(problem),
        }
    }
}
