//! Typed operations: one struct per operation, with its arguments as fields.

use crate::call::{Call, Request};
use crate::declaration::{Declaration, Documentation};
use crate::error::ValidationError;
use crate::project::ProjectId;
use crate::schema::HasJsonType;
use crate::value::Value;

/// A typed operation with the arguments of one call.
pub trait Endpoint: Sized {
    /// The type of a successful response's body.
    type Output: HasJsonType;

    /// The declaration.
    const DECLARATION: Declaration;

    /// The documentation.
    const DOCUMENTATION: Documentation;

    /// Reads the arguments from a call of this operation.
    ///
    /// # Errors
    /// [`crate::Rule::Required`] if a required argument is absent. Otherwise the first rule that an
    /// argument breaks.
    fn from_call(call: &Call) -> Result<Self, ValidationError>;

    /// Converts the arguments to a call.
    #[must_use]
    fn to_call(&self) -> Call;

    /// Reads and validates the arguments in `params`, which are named as in the API.
    ///
    /// # Errors
    /// The first rule that an argument breaks.
    fn parse<V: Value>(params: &V) -> Result<Self, ValidationError> {
        Call::parse(const { &Self::DECLARATION }, params).and_then(|call| Self::from_call(&call))
    }

    /// Builds the request for a project.
    #[must_use]
    fn request(&self, project: &ProjectId) -> Request {
        self.to_call().request(project)
    }
}

/// Declares an operation as a struct with its parameters as fields.
///
/// The type of each field defines the parameter's name, location and bounds. The remaining entries
/// become the [`Declaration`] and the [`Documentation`].
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
        repeat: $repeat:ident,
        pagination: $pagination:expr,
        link: $link:expr,
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq $(, $derive)?)]
        #[non_exhaustive]
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
                        &$crate::declaration::join::<_, { 0 $(+ <$kind as $crate::parameters::ParameterGroup>::LIST.len())* }>(
                            &[$(<$kind as $crate::parameters::ParameterGroup>::LIST),*],
                            $crate::declaration::Parameter::FILLER,
                        )
                    },
                    scope: $crate::declaration::Scope::$scope,
                    policy: $policy,
                    repeat: $crate::declaration::Repeat::$repeat,
                    pagination: $pagination,
                };

            const DOCUMENTATION: $crate::declaration::Documentation =
                $crate::declaration::Documentation {
                    summary: &[$($doc),+],
                    parameters: const {
                        &$crate::declaration::join::<_, { 0 $(+ <$kind as $crate::parameters::ParameterGroup>::DOCS.len())* }>(
                            &[$(<$kind as $crate::parameters::ParameterGroup>::DOCS),*],
                            "",
                        )
                    },
                    link: $link,
                };

            #[allow(unused_variables, reason = "an operation may have no parameters")]
            fn from_call(call: &$crate::call::Call) -> Result<Self, $crate::error::ValidationError> {
                Ok(Self {
                    $($field: <$kind as $crate::parameters::ParameterGroup>::read(call)?,)*
                })
            }

            fn to_call(&self) -> $crate::call::Call {
                #[allow(unused_mut, reason = "an operation may have no parameters")]
                let mut call = $crate::call::Call::new(
                    const { &<Self as $crate::endpoint::Endpoint>::DECLARATION },
                );
                $($crate::parameters::ParameterGroup::write(&self.$field, &mut call);)*
                call
            }
        }
    };
}
