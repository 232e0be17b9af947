//! Scopes: a component or volume belongs to one environment, a host to the whole estate. All of them have a key.

use crate::compose::Key;

/// Where the thing of a key belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope<'k> {
    Estate,
    Environment(&'k str),
}

impl<'k> Scope<'k> {
    pub fn of(key: &'k Key) -> Self {
        match key.0.as_str() {
            "" => Self::Estate,
            environment => Self::Environment(environment),
        }
    }

    /// The first part of the keys of things here. No environment has an empty name.
    pub fn prefix(self) -> &'k str {
        match self {
            Self::Estate => "",
            Self::Environment(environment) => environment,
        }
    }

    pub fn key(self, name: &str) -> Key {
        (self.prefix().to_owned(), name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_keeps_its_scope() {
        for scope in [Scope::Estate, Scope::Environment("staging")] {
            assert_eq!(Scope::of(&scope.key("node1")), scope);
        }
    }
}
