//! The reports of `eos list`: the components or volumes of an environment, or the hosts of the estate.

use crate::views::report::{Message, Page, Report, value};
use crate::views::text::{Table, Yield, short_operation};
use eos_core::node::Node;
use eos_core::option::human_size;
use serde::Serialize;
use serde_json::json;

pub struct Components {
    pub environment: String,
    pub rows: Vec<ComponentRow>,
}

#[derive(Serialize)]
pub struct ComponentRow {
    pub component: String,
    pub recipe: String,
    pub version: Option<String>,
    /// Whether what the pillar says was applied.
    pub applied: Applied,
    pub operation: Option<String>,
    /// Under which the proxy serves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Applied {
    Yes,
    /// The pillar was changed since.
    Changed,
    No,
    /// It is applied, but no longer in the pillar.
    Removed,
}

impl Applied {
    /// Of a thing with one node, by the nodes that were applied beside it.
    pub fn of<'n>(node: &Node, mut applied: impl Iterator<Item = &'n Node>) -> Self {
        match applied.find(|before| before.address == node.address) {
            None => Self::No,
            Some(before) if before.has_values_of(node) => Self::Yes,
            Some(_) => Self::Changed,
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Changed => "changed since",
            Self::No => "not yet",
            Self::Removed => "removed from pillar",
        }
    }
}

impl Report for Components {
    fn text(&self, page: &mut Page) {
        let Self { environment, rows } = self;
        if rows.is_empty() {
            return page.say(&format!(
                "{environment} has no components yet; `eos catalog list` shows what can be created"
            ));
        }
        let has_url = rows.iter().any(|row| row.url.is_some());
        let row = |row: &ComponentRow| {
            let mut cells = vec![
                row.component.clone(),
                row.recipe.clone(),
                row.version.clone().unwrap_or_default(),
                row.applied.words().to_owned(),
                row.operation
                    .as_deref()
                    .map_or_else(String::new, |id| short_operation(id).to_owned()),
            ];
            cells.extend(has_url.then(|| row.url.clone().unwrap_or_default()));
            cells
        };
        let mut headings = vec![
            environment.as_str(),
            "recipe",
            "version",
            "applied",
            "last operation",
        ];
        let mut yields = vec![
            Yield::Drop(4),
            Yield::Drop(2),
            Yield::Shorten(1, 12),
            Yield::Drop(1),
        ];
        if has_url {
            headings.push("url");
            yields.push(Yield::Drop(5));
        }
        yields.push(Yield::ShortenMiddle(0, 8));
        let table = Table {
            headings: &headings,
            right: &[],
            rows: rows.iter().map(row).collect(),
        };
        page.data(table.print_yielding(page.data_width, &yields));
    }

    fn json(&self) -> Message {
        let content = json!({"environment": self.environment, "components": value(&self.rows)});
        Message::Document("components", content)
    }
}

pub struct Hosts(pub Vec<HostRow>);

#[derive(Serialize)]
pub struct HostRow {
    pub host: String,
    pub address: String,
    pub datacenter: String,
    pub roles: Vec<String>,
    pub volume_group: Option<String>,
    pub devices: Vec<String>,
    pub applied: Applied,
}

impl Report for Hosts {
    fn text(&self, page: &mut Page) {
        let row = |row: &HostRow| {
            vec![
                row.host.clone(),
                row.address.clone(),
                row.datacenter.clone(),
                row.roles.join(", "),
                row.volume_group.clone().unwrap_or_default(),
                row.devices.join(", "),
                row.applied.words().to_owned(),
            ]
        };
        let table = Table {
            headings: &[
                "host",
                "address",
                "datacenter",
                "roles",
                "volume group",
                "devices",
                "applied",
            ],
            right: &[],
            rows: self.0.iter().map(row).collect(),
        };
        page.data(table.print_yielding(
            page.data_width,
            &[
                Yield::Drop(5),
                Yield::Drop(2),
                Yield::Drop(4),
                Yield::Shorten(3, 8),
                Yield::Drop(3),
            ],
        ));
    }

    fn json(&self) -> Message {
        Message::Document("hosts", json!({"hosts": value(&self.0)}))
    }
}

pub struct Volumes {
    pub environment: String,
    pub rows: Vec<VolumeRow>,
}

#[derive(Serialize)]
pub struct VolumeRow {
    pub volume: String,
    /// The component that it belongs to; none where it stands for itself.
    pub component: Option<String>,
    pub host: String,
    pub size: u64,
    pub filesystem: &'static str,
    pub path: String,
    pub applied: Applied,
}

impl Report for Volumes {
    fn text(&self, page: &mut Page) {
        let Self { environment, rows } = self;
        if rows.is_empty() {
            return page.say(&format!(
                "{environment} has no volumes yet; `eos create volume` makes one"
            ));
        }
        let row = |row: &VolumeRow| {
            vec![
                row.volume.clone(),
                row.component.clone().unwrap_or_default(),
                row.host.clone(),
                human_size(row.size),
                row.filesystem.to_owned(),
                row.path.clone(),
                row.applied.words().to_owned(),
            ]
        };
        let table = Table {
            headings: &[
                environment,
                "component",
                "host",
                "size",
                "filesystem",
                "path",
                "applied",
            ],
            right: &[3],
            rows: rows.iter().map(row).collect(),
        };
        page.data(table.print_yielding(
            page.data_width,
            &[
                Yield::Drop(4),
                Yield::ShortenMiddle(5, 24),
                Yield::Drop(1),
                Yield::Drop(6),
                Yield::Drop(5),
                Yield::Drop(2),
                Yield::ShortenMiddle(0, 8),
            ],
        ));
    }

    fn json(&self) -> Message {
        let content = json!({"environment": self.environment, "volumes": value(&self.rows)});
        Message::Document("volumes", content)
    }
}
