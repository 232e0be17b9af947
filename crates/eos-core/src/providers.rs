//! The Terraform providers that Eos knows: one table. What a workspace names of them follows from its resources.
//!
//! A provider is a program that runs as root on the control minion. The minion's own settings and mirror say which of these
//! it has; `formula/_utils/eos_providers.py` has the columns that the minion needs, and a test compares the two.

/// One provider.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// As Terraform calls it: the first word of the types of its resources.
    pub name: &'static str,
    pub source: &'static str,
    /// The versions that Eos emits for.
    pub version: &'static str,
    /// The environment variables that hold its credentials. The control minion gives them to Terraform.
    pub credentials: &'static [&'static str],
    /// The environment variable that replaces its endpoint in a laboratory.
    pub endpoint: &'static str,
    /// A block that Terraform wants in its configuration, empty.
    pub block: Option<&'static str>,
    pub serves: Serves,
    /// Types of resources that hold nothing but what the recipe says of them: one that was destroyed can be made again.
    pub remade: &'static [&'static str],
    /// Types whose attributes in the Terraform state would hold a secret.
    pub secret: &'static [&'static str],
}

/// Who says the resources of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serves {
    /// Eos itself: an engine of the estate has them.
    Eos,
    /// Recipes, under `resources:`.
    Recipes,
}

pub static PROVIDERS: [Provider; 7] = [
    Provider {
        name: "aws",
        source: "hashicorp/aws",
        version: "~> 6.0",
        credentials: &["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"],
        endpoint: "AWS_ENDPOINT_URL",
        block: None,
        serves: Serves::Recipes,
        remade: &[
            "aws_internet_gateway",
            "aws_route",
            "aws_route_table",
            "aws_route_table_association",
            "aws_security_group",
            "aws_security_group_rule",
            "aws_subnet",
            "aws_vpc",
        ],
        secret: &[
            "aws_db_instance",
            "aws_iam_access_key",
            "aws_iam_user_login_profile",
            "aws_key_pair",
            "aws_rds_cluster",
            "aws_secretsmanager_secret_version",
            "aws_ssm_parameter",
        ],
    },
    Provider {
        name: "azurerm",
        source: "hashicorp/azurerm",
        version: "~> 4.0",
        credentials: &[
            "ARM_CLIENT_ID",
            "ARM_CLIENT_SECRET",
            "ARM_SUBSCRIPTION_ID",
            "ARM_TENANT_ID",
        ],
        endpoint: "ARM_METADATA_HOSTNAME",
        block: Some("features"),
        serves: Serves::Recipes,
        remade: &[
            "azurerm_network_security_group",
            "azurerm_network_security_rule",
            "azurerm_route_table",
            "azurerm_subnet",
            "azurerm_virtual_network",
        ],
        secret: &[
            "azurerm_container_registry",
            "azurerm_key_vault_secret",
            "azurerm_mssql_server",
            "azurerm_postgresql_flexible_server",
            "azurerm_storage_account",
        ],
    },
    Provider {
        name: "cloudflare",
        source: "cloudflare/cloudflare",
        version: "~> 5.0",
        credentials: &["CLOUDFLARE_API_TOKEN"],
        endpoint: "CLOUDFLARE_BASE_URL",
        block: None,
        serves: Serves::Recipes,
        remade: &[
            "cloudflare_dns_record",
            "cloudflare_page_rule",
            "cloudflare_ruleset",
        ],
        secret: &[
            "cloudflare_account_token",
            "cloudflare_api_token",
            "cloudflare_origin_ca_certificate",
            "cloudflare_zero_trust_access_service_token",
            "cloudflare_zero_trust_tunnel_cloudflared",
        ],
    },
    Provider {
        name: "consul",
        source: "hashicorp/consul",
        version: "~> 2.0",
        credentials: &["CONSUL_HTTP_TOKEN"],
        endpoint: "CONSUL_HTTP_ADDR",
        block: None,
        serves: Serves::Eos,
        remade: &[],
        secret: &[],
    },
    Provider {
        name: "hcloud",
        source: "hetznercloud/hcloud",
        version: "~> 1.60",
        credentials: &["HCLOUD_TOKEN"],
        endpoint: "HCLOUD_ENDPOINT",
        block: None,
        serves: Serves::Recipes,
        remade: &[
            "hcloud_firewall",
            "hcloud_firewall_attachment",
            "hcloud_load_balancer_network",
            "hcloud_load_balancer_service",
            "hcloud_load_balancer_target",
            "hcloud_network",
            "hcloud_network_route",
            "hcloud_network_subnet",
            "hcloud_placement_group",
            "hcloud_rdns",
            "hcloud_server_network",
            "hcloud_ssh_key",
            "hcloud_volume_attachment",
        ],
        secret: &[
            "hcloud_storage_box",
            "hcloud_storage_box_subaccount",
            "hcloud_uploaded_certificate",
        ],
    },
    Provider {
        name: "nomad",
        source: "hashicorp/nomad",
        version: "~> 2.0",
        credentials: &["NOMAD_TOKEN"],
        endpoint: "NOMAD_ADDR",
        block: None,
        serves: Serves::Eos,
        remade: &[],
        secret: &[],
    },
    Provider {
        name: "vault",
        source: "hashicorp/vault",
        version: "~> 5.0",
        credentials: &["VAULT_TOKEN"],
        endpoint: "VAULT_ADDR",
        block: None,
        serves: Serves::Eos,
        remade: &[],
        secret: &[],
    },
];

impl Provider {
    /// Whether a resource of this type that was destroyed can be made again as it was.
    pub fn remakes(&self, kind: &str) -> bool {
        self.remade.contains(&kind)
    }
}

/// The provider of a type of resources: its first word names it.
pub fn of_type(kind: &str) -> Option<&'static Provider> {
    let (name, _) = kind.split_once('_')?;
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The providers of these types, in the order of the table.
pub fn of_types<'t>(kinds: impl IntoIterator<Item = &'t str>) -> Vec<&'static Provider> {
    let mut found: Vec<_> = kinds.into_iter().filter_map(of_type).collect();
    found.sort_by_key(|provider| provider.name);
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_names_its_provider() {
        let name = |kind| of_type(kind).map(|provider| provider.name);
        assert_eq!(name("hcloud_server"), Some("hcloud"));
        assert_eq!(name("nomad_job"), Some("nomad"));
        for kind in ["hcloud", "random_password", "hcloudx_server", ""] {
            assert_eq!(name(kind), None, "{kind}");
        }
        let names: Vec<_> = of_types(["nomad_job", "consul_config_entry", "nomad_job"]);
        let names: Vec<_> = names.iter().map(|provider| provider.name).collect();
        assert_eq!(names, ["consul", "nomad"]);
    }

    #[test]
    fn the_table_is_in_order_and_every_type_is_of_its_provider() {
        assert!(PROVIDERS.is_sorted_by_key(|provider| provider.name));
        for provider in &PROVIDERS {
            for kind in provider.remade.iter().chain(provider.secret) {
                assert_eq!(of_type(kind), Some(provider), "{kind}");
            }
            assert!(provider.remade.iter().all(|kind| !provider.secret.contains(kind)));
        }
    }

    /// The formula's table is Python: the same facts, written out.
    #[test]
    fn the_formula_has_the_same_table() {
        let formula = include_str!("../../../formula/_utils/eos_providers.py");
        let mut rest = formula.split_once("TABLE = {\n").expect("it has a table").1;
        for provider in &PROVIDERS {
            let quoted: Vec<String> = provider
                .credentials
                .iter()
                .map(|name| format!("\"{name}\""))
                .collect();
            let credentials = match quoted.as_slice() {
                [one] => format!("({one},)"),
                several => format!("({})", several.join(", ")),
            };
            let block = provider
                .block
                .map_or("None".to_owned(), |block| format!("\"{block}\""));
            let recipes = match provider.serves {
                Serves::Eos => "False",
                Serves::Recipes => "True",
            };
            let row = format!(
                "    \"{}\": {{\n        \"source\": \"{}\",\n        \"credentials\": {credentials},\n        \"endpoint\": \"{}\",\n        \"block\": {block},\n        \"recipes\": {recipes},\n    }},\n",
                provider.name, provider.source, provider.endpoint
            );
            rest = rest
                .strip_prefix(&row)
                .unwrap_or_else(|| panic!("not as here: {}\n{row}\n{rest}", provider.name));
        }
        assert!(rest.starts_with("}\n"), "{rest}");
    }
}
