//! The client's methods for previews.

use crate::client::Client;
use crate::client::call::{ApiCall, prepare};
use crate::deployment::{Branch, CreatePreview};
use crate::error::ValidationError;

/// Previews of branches. [`Deployments`](crate::client::Deployments) reads, lists and watches them.
#[derive(Debug, Clone, Copy)]
pub struct Previews<'a>(pub(super) &'a Client);

impl Previews<'_> {
    /// Creates a preview of a branch, or deploys its existing preview again. For minutes after the
    /// deployment has succeeded, the URL of the preview can respond with 404.
    ///
    /// # Errors
    /// As [`ApiCall::send`]; status 429 if 5 previews were started within a minute.
    ///
    /// # Example
    #[doc = concat!("```\n", include_str!("../../tests/client/examples/preview.rs"), "```")]
    pub fn create<B>(&self, branch: B) -> ApiCall<CreatePreview>
    where
        B: TryInto<Branch, Error: Into<ValidationError>>,
    {
        let create = branch.try_into().map(CreatePreview::new);
        ApiCall::new(self.0, prepare(create))
    }
}
