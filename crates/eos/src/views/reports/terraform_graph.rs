//! The report of `eos graph --terraform`: Terraform's own graph, in the language of Graphviz.

use crate::views::report::{Message, Page, Report};
use crate::views::text::printable;
use serde_json::json;
use std::path::Path;

pub struct TerraformGraph<'a> {
    pub environment: &'a str,
    pub component: &'a str,
    pub shown: Shown<'a>,
}

pub enum Shown<'a> {
    Dot(&'a str),
    /// It was written to this file.
    File(&'a Path),
}

impl Report for TerraformGraph<'_> {
    fn text(&self, page: &mut Page) {
        let Self {
            environment,
            component,
            shown,
        } = self;
        match shown {
            Shown::Dot(dot) => page.data(printable(dot)),
            Shown::File(file) => page.say(&format!(
                "Terraform's graph of {environment}/{component}, written to {}",
                file.display()
            )),
        }
    }

    fn json(&self) -> Message {
        let Self {
            environment,
            component,
            shown,
        } = self;
        match shown {
            Shown::Dot(dot) => Message::Document(
                "terraform_graph",
                json!({"environment": environment, "component": component, "dot": dot}),
            ),
            Shown::File(file) => Message::Document(
                "terraform_graph_file",
                json!({"environment": environment, "component": component, "file": file}),
            ),
        }
    }
}
