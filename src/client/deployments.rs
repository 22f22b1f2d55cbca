//! The client's methods for deployments.

use crate::client::Client;
use crate::client::call::{ApiCall, prepare};
use crate::client::list::List;
use crate::client::watch::Watch;
use crate::deployment::{
    CreateDeployment, DeleteDeploymentRecord, GetDeployment, ListDeployments, StatusId,
};
use crate::error::ValidationError;

/// Deployments of the documentation site of the client's project, and of previews.
///
/// A deployment is identified by its id, as a string or a [`StatusId`], or by the response that
/// started it.
#[derive(Debug, Clone, Copy)]
pub struct Deployments<'a>(pub(super) &'a Client);

impl Deployments<'_> {
    /// Publishes the documentation from the deployment branch. Returns immediately: watch the
    /// deployment until it ends.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 429 if 10 deployments were started within 10 seconds.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/deploy.rs"), "```")]
    pub fn create(&self) -> ApiCall<CreateDeployment> {
        let create = Ok::<_, ValidationError>(CreateDeployment::default());
        ApiCall::new(self.0, prepare(create))
    }

    /// Reads a deployment or a preview.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 404 if the deployment does not exist or is not of a project of the
    /// access token.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/deployment.rs"), "```")]
    pub fn get<D>(&self, deployment: D) -> ApiCall<GetDeployment>
    where
        D: TryInto<StatusId, Error: Into<ValidationError>>,
    {
        let get = deployment.try_into().map(GetDeployment::new);
        ApiCall::new(self.0, prepare(get))
    }

    /// Lists the deployments and previews that were started through the gateway, newest first.
    /// Mintlify does not have this list. The argument is `..` for all, or the [`ListDeployments`] of an
    /// earlier [`next_request`](crate::client::Pages::next_request).
    ///
    /// # Errors
    /// As [`List::send`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/deployments.rs"), "```")]
    pub fn list(&self, list: impl Into<ListDeployments>) -> List<ListDeployments> {
        List::new(self.0, prepare(Ok::<_, ValidationError>(list.into())))
    }

    /// Deletes the gateway's record of a deployment. The deployment itself continues. The access token
    /// needs the scope `gateway:operate`.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 404 if the gateway has no record of the deployment.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/deployments.rs"), "```")]
    pub fn delete_record<D>(&self, deployment: D) -> ApiCall<DeleteDeploymentRecord>
    where
        D: TryInto<StatusId, Error: Into<ValidationError>>,
    {
        let delete = deployment
            .try_into()
            .map(|id| DeleteDeploymentRecord { id });
        ApiCall::new(self.0, prepare(delete))
    }

    /// Watches a deployment or a preview until it ends, by the gateway's event stream or by polls; see
    /// [`Watch`].
    ///
    /// # Errors
    /// As [`Watch::next`].
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/watch_deployment.rs"), "```")]
    pub fn watch<D>(&self, deployment: D) -> Watch<GetDeployment>
    where
        D: TryInto<StatusId, Error: Into<ValidationError>>,
    {
        let get = deployment.try_into().map(GetDeployment::new);
        Watch::new(self.0, prepare(get))
    }
}
