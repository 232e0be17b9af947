//! Workspaces: the Terraform configuration and state of one component. The control minion brings one to its digest.

use super::{Function, Request};
use crate::compile::Compilation;
use crate::plan::Key;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) const KIND: &str = "workspace";
const TITLE: &str = "terraform";

/// Salt has Terraform bring a workspace to its digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Made {
    pub minion: String,
    pub digest: String,
    /// Whether Terraform destroys something on the way that nothing brings back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loses: bool,
}

/// Salt has Terraform destroy a workspace that the pillar names no longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unmade {
    pub minion: String,
    /// Whether it has something that nothing brings back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub loses: bool,
}

impl Request for Made {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Make
    }

    fn facts(&self, _: &str) -> Value {
        json!({"digest": self.digest})
    }

    fn is_final(&self) -> bool {
        self.loses
    }

    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool {
        let workspace = compilation.workspaces.get(key);
        workspace.is_some_and(|workspace| workspace.digest == self.digest)
    }

    fn is_bound(&self) -> bool {
        true
    }

    fn is_workspace(&self) -> bool {
        true
    }

    fn object(&self, place: &str) -> String {
        format!("workspace {place}")
    }
}

impl Request for Unmade {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn title(&self) -> &'static str {
        TITLE
    }

    fn minion(&self) -> &str {
        &self.minion
    }

    fn function(&self) -> Function {
        Function::Remove
    }

    fn facts(&self, _: &str) -> Value {
        json!({})
    }

    fn is_final(&self) -> bool {
        self.loses
    }

    fn is_served(&self, key: &Key, compilation: &Compilation) -> bool {
        !compilation.workspaces.contains_key(key)
    }

    fn is_bound(&self) -> bool {
        true
    }

    fn is_workspace(&self) -> bool {
        true
    }

    fn object(&self, place: &str) -> String {
        format!("workspace {place}")
    }
}
