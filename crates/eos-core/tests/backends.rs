//! The Terraform backend that an estate chooses: the emitted block, the slice, and that no instance restarts for it.

use eos_core::backend::{Azurerm, Backend, S3, Setup};
use eos_core::catalog::Catalog;
use eos_core::compile::{Compilation, compile};
use eos_core::pillar::{Pillar, PillarFiles};
use eos_core::profile::Profile;
use serde_json::{Value, json};

const COMMON: &str = "#!yaml\nhosts:\n  control: {address: 127.0.0.1, roles: [client, control]}\n";
const PRODUCTION: &str = "#!yaml\ncomponents:\n  hello: {recipe: hello}\n";
const MAIN: &str = "terraform/environments/production/hello/main.tf";

fn compiled(profile: Profile, backend: Backend) -> Compilation {
    let files = [("common", COMMON), ("production", PRODUCTION)];
    let files: PillarFiles = files
        .map(|(name, text)| (format!("pillar/infrastructure/{name}.sls"), text.into()))
        .into();
    let setup = Setup { profile, backend };
    compile(
        &Pillar::read(&files).unwrap(),
        &Catalog::load(&[]).unwrap(),
        setup,
    )
    .unwrap()
}

fn block(compilation: &Compilation) -> String {
    let main = String::from_utf8(compilation.artifacts[MAIN].clone()).unwrap();
    let (_, rest) = main.split_once("\n  backend ").unwrap();
    rest.split_once("\n\n").unwrap().0.to_owned()
}

fn slice(compilation: &Compilation) -> Value {
    let facts = &compilation.workspace("production", "hello").unwrap().facts;
    serde_json::to_value(facts).unwrap()
}

fn s3(endpoint: Option<&str>) -> Backend {
    Backend::S3(S3 {
        bucket: "eos-terraform-state".into(),
        region: "eu-central-1".into(),
        endpoint: endpoint.map(str::to_owned),
        prefix: endpoint.map(|_| "main".to_owned()),
    })
}

#[test]
fn the_block_says_where_the_state_is_and_nothing_secret() {
    let amazon = compiled(Profile::Solo, s3(None));
    assert_eq!(
        block(&amazon),
        r#""s3" {
    bucket       = "eos-terraform-state"
    key          = "production/hello/terraform.tfstate"
    region       = "eu-central-1"
    use_lockfile = true
  }"#
    );
    let own = compiled(Profile::Full, s3(Some("https://store.example:9000")));
    assert_eq!(
        block(&own),
        r#""s3" {
    bucket                      = "eos-terraform-state"
    key                         = "main/production/hello/terraform.tfstate"
    region                      = "eu-central-1"
    use_lockfile                = true
    use_path_style              = true
    skip_credentials_validation = true
    skip_metadata_api_check     = true
    skip_region_validation      = true
    skip_requesting_account_id  = true
    endpoints = {
      s3 = "https://store.example:9000"
    }
  }"#
    );
    let azure = Backend::Azurerm(Azurerm {
        storage_account: "eosstates".into(),
        container: "eos-terraform-state".into(),
        endpoint: None,
        metadata_host: Some("cloud.example".into()),
        prefix: None,
    });
    assert_eq!(
        block(&compiled(Profile::Solo, azure)),
        r#""azurerm" {
    storage_account_name = "eosstates"
    container_name       = "eos-terraform-state"
    key                  = "production/hello/terraform.tfstate"
    metadata_host        = "cloud.example"
  }"#
    );
    assert!(block(&compiled(Profile::Full, Backend::Consul)).starts_with(r#""consul" {}"#));
    assert!(block(&compiled(Profile::Full, Backend::Local)).starts_with(r#""local" {}"#));
}

#[test]
fn a_slice_names_only_a_backend_that_is_not_the_profiles_own() {
    assert_eq!(
        slice(&compiled(Profile::Solo, Backend::Local)).get("backend"),
        None
    );
    assert_eq!(
        slice(&compiled(Profile::Full, Backend::Consul)).get("backend"),
        None
    );
    let local = slice(&compiled(Profile::Full, Backend::Local));
    assert_eq!(local["backend"], json!({"kind": "local"}));
    let amazon = slice(&compiled(Profile::Solo, s3(None)));
    let wanted = json!({"kind": "s3", "bucket": "eos-terraform-state", "region": "eu-central-1"});
    assert_eq!(amazon["backend"], wanted);
}

#[test]
fn another_backend_is_another_workspace_and_the_same_job() {
    let (local, amazon) = (
        compiled(Profile::Solo, Backend::Local),
        compiled(Profile::Solo, s3(None)),
    );
    let of = |compilation: &Compilation| compilation.workspace("production", "hello").unwrap().clone();
    assert_ne!(of(&local).digest, of(&amazon).digest);
    assert_eq!(of(&local).job_digest, of(&amazon).job_digest);
    let platform =
        |compilation: &Compilation| compilation.workspace("production", "platform").unwrap().clone();
    assert_ne!(platform(&local).digest, platform(&amazon).digest);
}
