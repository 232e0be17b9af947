//! A component's outputs as Terraform has them: the module says each, the workspace hands them on. Their texts are values,
//! so that environments share a module whatever their ports and names.

use super::hcl::{Body, raw};
use super::terraform::REGISTERED;
use super::variables::{Kind, Variable};
use crate::lowered::Lowered;
use crate::output::{Output, Said};
use serde_json::Value;

/// The file of a module that has them, with the variables that only they need.
pub const FILE: &str = "recipe_outputs.tf";
const TEXTS: &str = "outputs";

pub struct Outputs {
    pub texts: Variable,
    pub of_module: String,
    pub of_workspace: String,
    /// The service whose place they say, once it is registered.
    pub service: Option<String>,
    /// Whether it is to answer nowhere: what lingers in a catalogue is no place of it.
    pub is_stopped: bool,
}

/// The outputs of a component, if it has some.
pub fn outputs(lowered: &Lowered) -> Option<Outputs> {
    if lowered.outputs.is_empty() {
        return None;
    }
    let service = lowered.front().map(|front| front.service.clone());
    let outputs = || lowered.outputs.iter();
    let module = outputs().fold(Body::new(), |body, output| {
        let value = Body::new().attribute("value", raw(value(output, service.is_some())));
        body.block("output", &[&output.name], value)
    });
    let workspace = outputs().fold(Body::new(), |body, Output { name, .. }| {
        let value = raw(format!("module.{}.{name}", lowered.component));
        body.block("output", &[name], Body::new().attribute("value", value))
    });
    Some(Outputs {
        texts: texts(&lowered.outputs),
        of_module: module.print(),
        of_workspace: workspace.print(),
        service,
        is_stopped: lowered.is_stopped(),
    })
}

fn texts(outputs: &[Output]) -> Variable {
    let texts = outputs
        .iter()
        .map(|output| (output.name.clone(), Value::String(text(output))));
    Variable {
        name: TEXTS.to_owned(),
        kind: Kind::Map,
        value: Value::Object(texts.collect()),
        description: "Texts of the outputs; the place of the service stands in them as in a format"
            .to_owned(),
        in_job: false,
        of_instance: false,
    }
}

/// As Terraform's function `format` takes it; as it is, where no place stands in it.
fn text(output: &Output) -> String {
    let is_format = arguments(output).is_some();
    let piece = |piece: &Said| match piece {
        Said::Text(text) if is_format => text.replace('%', "%%"),
        Said::Text(text) => text.clone(),
        Said::Address => "%[1]s".to_owned(),
        Said::Port => "%[2]d".to_owned(),
    };
    output.pieces.iter().map(piece).collect()
}

/// Nothing is said of a service before it is registered.
fn value(output: &Output, is_of_service: bool) -> String {
    let text = format!("var.{TEXTS}[\"{}\"]", output.name);
    let value = match arguments(output) {
        Some(arguments) => format!("format({text}, {arguments})"),
        None => text,
    };
    match is_of_service {
        true => format!("var.{} == null ? null : {value}", REGISTERED.name),
        false => value,
    }
}

/// What stands in a format, if anything does. Terraform refuses more than the last of them that is used.
fn arguments(output: &Output) -> Option<&'static str> {
    match (
        output.pieces.contains(&Said::Address),
        output.pieces.contains(&Said::Port),
    ) {
        (_, true) => Some("var.registered.address, var.registered.port"),
        (true, false) => Some("var.registered.address"),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(pieces: &[Said]) -> Output {
        Output {
            name: "o".to_owned(),
            pieces: pieces.into(),
        }
    }

    #[test]
    fn a_text_is_a_format_only_where_a_place_stands_in_it() {
        let percent = || Said::Text("100%[1]s ".to_owned());
        let cases = [
            (vec![percent()], "100%[1]s ", r#"var.outputs["o"]"#),
            (
                vec![percent(), Said::Address],
                "100%%[1]s %[1]s",
                r#"format(var.outputs["o"], var.registered.address)"#,
            ),
            (
                vec![Said::Port, percent()],
                "%[2]d100%%[1]s ",
                r#"format(var.outputs["o"], var.registered.address, var.registered.port)"#,
            ),
        ];
        for (pieces, said, expression) in cases {
            let output = output(&pieces);
            assert_eq!(text(&output), said);
            assert_eq!(
                value(&output, true),
                format!("var.registered == null ? null : {expression}")
            );
        }
        assert_eq!(value(&output(&[percent()]), false), r#"var.outputs["o"]"#);
    }
}
