//! Terraform's settings of a backend for one workspace.
//!
//! Settings that only the control minion knows are left out: paths of its disk, the address of Consul, and every
//! credential. The formula's `eos_backend_<kind>.py` gives Terraform the same settings, and those.

use super::hcl::{Body, Expression};
use crate::backend::Backend;

pub fn settings(backend: &Backend, environment: &str, component: &str) -> Body<'static> {
    let key = |prefix: &Option<String>| {
        let prefix = prefix.as_deref().map(|prefix| format!("{prefix}/"));
        let prefix = prefix.unwrap_or_default();
        format!("{prefix}{environment}/{component}/terraform.tfstate")
    };
    match backend {
        Backend::Local | Backend::Consul => Body::new(),
        Backend::S3(s3) => {
            let body = Body::new()
                .attribute("bucket", s3.bucket.clone())
                .attribute("key", key(&s3.prefix))
                .attribute("region", s3.region.clone())
                .attribute("use_lockfile", true);
            match &s3.endpoint {
                None => body,
                Some(endpoint) => body
                    .attribute("use_path_style", true)
                    .attribute("skip_credentials_validation", true)
                    .attribute("skip_metadata_api_check", true)
                    .attribute("skip_region_validation", true)
                    .attribute("skip_requesting_account_id", true)
                    .attribute(
                        "endpoints",
                        Expression::Map(vec![("s3".into(), endpoint.clone().into())]),
                    ),
            }
        }
        Backend::Azurerm(azure) => {
            let body = Body::new()
                .attribute("storage_account_name", azure.storage_account.clone())
                .attribute("container_name", azure.container.clone())
                .attribute("key", key(&azure.prefix));
            match &azure.metadata_host {
                None => body,
                Some(host) => body.attribute("metadata_host", host.clone()),
            }
        }
    }
}
