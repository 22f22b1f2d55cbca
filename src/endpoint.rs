//! Operations with the values of one call, as types of their own.

use crate::call::{Call, Request};
use crate::declaration::{Declaration, Documentation};
use crate::error::ValidationError;
use crate::project::ProjectId;
use crate::schema::Described;
use crate::value::Value;

/// An operation with the values of one call.
pub trait Endpoint: Sized {
    /// What a success's body is read as.
    type Output: Described;

    /// What the operation is.
    const DECLARATION: Declaration;

    /// What people read about it.
    const DOCUMENTATION: Documentation;

    /// The values of a call of this operation.
    ///
    /// # Errors
    /// [`crate::Rule::Required`] when one is not there but has to be.
    fn from_call(call: &Call) -> Result<Self, ValidationError>;

    /// The call with these values.
    #[must_use]
    fn to_call(&self) -> Call;

    /// Reads the call's values from `params`, by the server's own names.
    ///
    /// # Errors
    /// The first value that breaks a rule.
    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        Call::parse(const { &Self::DECLARATION }, params).and_then(|call| Self::from_call(&call))
    }

    /// The request of this call.
    #[must_use]
    fn request(&self, project: &ProjectId) -> Request {
        self.to_call().request(project)
    }
}

/// Declares an operation: a struct with its parameters as fields, whose types say their names,
/// places and bounds, and what else is to know of it.
macro_rules! operation {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident $(: $derive:ident)? -> $output:ty {
            $($(#[doc = $field_doc:literal])+ pub $field:ident: $kind:ty,)*
        }
        name: $wire:literal,
        route: $method:ident $path:literal,
        scope: $scope:ident,
        policy: $policy:expr,
        pagination: $pagination:expr,
        link: $link:expr,
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq $(, $derive)?)]
        pub struct $name {
            $($(#[doc = $field_doc])+ pub $field: $kind,)*
        }

        impl $crate::endpoint::Endpoint for $name {
            type Output = $output;

            const DECLARATION: $crate::declaration::Declaration =
                $crate::declaration::Declaration {
                    name: $wire,
                    method: $crate::declaration::Method::$method,
                    path: $path,
                    parameters: const {
                        &$crate::declaration::join::<_, { 0 $(+ <$kind as $crate::parameters::Parameters>::LIST.len())* }>(
                            &[$(<$kind as $crate::parameters::Parameters>::LIST),*],
                            $crate::declaration::Parameter::FILLER,
                        )
                    },
                    scope: $crate::declaration::Scope::$scope,
                    policy: $policy,
                    pagination: $pagination,
                };

            const DOCUMENTATION: $crate::declaration::Documentation =
                $crate::declaration::Documentation {
                    summary: &[$($doc),+],
                    parameters: const {
                        &$crate::declaration::join::<_, { 0 $(+ <$kind as $crate::parameters::Parameters>::DOCS.len())* }>(
                            &[$(<$kind as $crate::parameters::Parameters>::DOCS),*],
                            "",
                        )
                    },
                    link: $link,
                };

            #[allow(unused_variables, reason = "an operation may have no parameters")]
            fn from_call(call: &$crate::call::Call) -> Result<Self, $crate::error::ValidationError> {
                Ok(Self {
                    $($field: <$kind as $crate::parameters::Parameters>::read(call)?,)*
                })
            }

            fn to_call(&self) -> $crate::call::Call {
                #[allow(unused_mut, reason = "an operation may have no parameters")]
                let mut call = $crate::call::Call::new(
                    const { &<Self as $crate::endpoint::Endpoint>::DECLARATION },
                );
                $($crate::parameters::Parameters::write(&self.$field, &mut call);)*
                call
            }
        }
    };
}
