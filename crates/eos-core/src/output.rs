//! Outputs of a component: facts for a person once it runs, and outputs of its Terraform workspace.
//!
//! A template of a recipe is evaluated when Eos compiles. Where the service answers is known once it is registered, and
//! stands in the result as a piece. Terraform and the engine both put those pieces together, so that both say the same.

use crate::profile::Profile;
use crate::runtime::{Piece, RuntimeText};
use serde_json::{Map, Value};

/// Names of the outputs that every component of a kind has, whatever its recipe says.
pub const TAKEN: &[&str] = &["job", "namespace", NOMAD_SERVICE, CONSUL_SERVICE];
const NOMAD_SERVICE: &str = "nomad_service";
const CONSUL_SERVICE: &str = "consul_service";

/// The URL under which the proxy of the environment serves a component: an output of it, and a name of its templates.
pub const PUBLIC_URL: &str = "public_url";

/// What a template may name of the place at which the first service answers.
pub const ADDRESS: &str = "address";
pub const PORT: &str = "port";

#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub name: String,
    pub pieces: Box<[Said]>,
}

/// A part of an output. There is none for a secret.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Text(String),
    Address,
    Port,
}

impl Output {
    /// The output of an evaluated template.
    pub fn read(name: &str, value: &Value) -> Result<Self, String> {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let pieces = RuntimeText::read(&text)?.0.into_iter().map(Said::of);
        Ok(Self {
            name: name.to_owned(),
            pieces: pieces.collect::<Result<_, _>>()?,
        })
    }

    /// How others find the service: by Consul's name for it, or at the place that Nomad has.
    pub fn of_service(profile: Profile, service: &str) -> Self {
        let (name, pieces) = match profile {
            Profile::Solo => (
                NOMAD_SERVICE,
                vec![Said::Address, Said::Text(":".to_owned()), Said::Port],
            ),
            Profile::Full => (
                CONSUL_SERVICE,
                vec![Said::Text(format!("{service}.service.consul"))],
            ),
        };
        Self {
            name: name.to_owned(),
            pieces: pieces.into(),
        }
    }

    /// The output of a URL under which a proxy serves the component. The first is the one that templates name.
    pub fn of_route(first: bool, route: &str, url: &str) -> Self {
        Self {
            name: match first {
                true => PUBLIC_URL.to_owned(),
                false => format!("{PUBLIC_URL}_{route}"),
            },
            pieces: Box::new([Said::Text(url.to_owned())]),
        }
    }

    /// The output of a service that answers here.
    pub fn text(&self, address: &str, port: u16) -> String {
        let said = |piece: &Said| match piece {
            Said::Text(text) => text.clone(),
            Said::Address => address.to_owned(),
            Said::Port => port.to_string(),
        };
        self.pieces.iter().map(said).collect()
    }
}

impl Said {
    fn of(piece: Piece) -> Result<Self, String> {
        match piece {
            Piece::Text(text) => Ok(Self::Text(text)),
            Piece::Host(_) => Ok(Self::Address),
            Piece::Port(_) => Ok(Self::Port),
            Piece::Address(_)
            | Piece::Addresses(_)
            | Piece::Secret(_)
            | Piece::SecretInQuotes(_)
            | Piece::SecretsDirectory
            | Piece::FilesDirectory
            | Piece::OwnAddress(_)
            | Piece::EachRoute
            | Piece::EndRoute
            | Piece::RouteHost
            | Piece::RouteAddresses
            | Piece::Measured => Err("an output names a value that only the task knows".to_owned()),
        }
    }
}

/// Adds the place of a service to what a template may name. An option `port` wins over the fact, unless nobody set it.
pub fn add_place(context: &mut Map<String, Value>, service: &str) {
    let mark = |piece: fn(String) -> Piece| Value::String(piece(service.to_owned()).mark());
    context.insert(ADDRESS.to_owned(), mark(Piece::Host));
    if context.get(PORT).is_none_or(Value::is_null) {
        context.insert(PORT.to_owned(), mark(Piece::Port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn evaluated(options: Value, text: impl Fn(&str, &str) -> String) -> Result<Output, String> {
        let Value::Object(mut context) = options else {
            panic!("options are an object")
        };
        add_place(&mut context, "web");
        let said = |name: &str| match &context[name] {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        Output::read("url", &text(&said(ADDRESS), &said(PORT)).into())
    }

    #[test]
    fn the_place_of_the_service_is_put_in_late() {
        let url = |address: &str, port: &str| format!("http://{address}:{port}/");
        let output = evaluated(json!({"port": null}), url).unwrap();
        assert_eq!(output.text("10.0.0.7", 21234), "http://10.0.0.7:21234/");
        let output = evaluated(json!({"port": 3000}), url).unwrap();
        assert_eq!(output.text("localhost", 21234), "http://localhost:3000/");
    }

    #[test]
    fn no_output_holds_what_only_a_task_knows() {
        for piece in [Piece::Secret("password".to_owned()), Piece::FilesDirectory] {
            assert!(Output::read("o", &piece.mark().into()).is_err(), "{piece:?}");
        }
        let louder = |address: &str, _: &str| address.to_uppercase();
        assert!(evaluated(json!({}), louder).is_err());
    }
}
