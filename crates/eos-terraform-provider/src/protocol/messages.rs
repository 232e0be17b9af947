//! Owns the messages of Terraform's plugin protocol 6 that this program reads and writes.
//!
//! Written by hand so that the build needs no protocol compiler. A field that this program never uses is
//! left out: prost skips what it does not know. A `oneof` with one member set looks on the wire like an
//! optional field, so optional fields stand for it.

use std::collections::BTreeMap;

/// A value as MessagePack (what Terraform sends) or as JSON (what an upgraded Terraform state may be).
#[derive(Clone, PartialEq, prost::Message)]
pub struct DynamicValue {
    #[prost(bytes = "vec", tag = "1")]
    pub msgpack: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub json: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Diagnostic {
    #[prost(enumeration = "Severity", tag = "1")]
    pub severity: i32,
    #[prost(string, tag = "2")]
    pub summary: String,
    #[prost(string, tag = "3")]
    pub detail: String,
    #[prost(message, optional, tag = "4")]
    pub attribute: Option<AttributePath>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum Severity {
    Invalid = 0,
    Error = 1,
    Warning = 2,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AttributePath {
    #[prost(message, repeated, tag = "1")]
    pub steps: Vec<AttributeStep>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct AttributeStep {
    #[prost(string, optional, tag = "1")]
    pub attribute_name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub element_key_string: Option<String>,
    #[prost(int64, optional, tag = "3")]
    pub element_key_int: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct RawState {
    #[prost(bytes = "vec", tag = "1")]
    pub json: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Schema {
    #[prost(int64, tag = "1")]
    pub version: i64,
    #[prost(message, optional, tag = "2")]
    pub block: Option<SchemaBlock>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SchemaBlock {
    #[prost(message, repeated, tag = "2")]
    pub attributes: Vec<SchemaAttribute>,
    #[prost(message, repeated, tag = "3")]
    pub block_types: Vec<SchemaNestedBlock>,
    #[prost(string, tag = "4")]
    pub description: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SchemaAttribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub r#type: Vec<u8>,
    #[prost(string, tag = "3")]
    pub description: String,
    #[prost(bool, tag = "4")]
    pub required: bool,
    #[prost(bool, tag = "5")]
    pub optional: bool,
    #[prost(bool, tag = "6")]
    pub computed: bool,
    #[prost(bool, tag = "7")]
    pub sensitive: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct SchemaNestedBlock {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub block: Option<SchemaBlock>,
    #[prost(enumeration = "NestingMode", tag = "3")]
    pub nesting: i32,
    #[prost(int64, tag = "4")]
    pub min_items: i64,
    #[prost(int64, tag = "5")]
    pub max_items: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, prost::Enumeration)]
#[repr(i32)]
pub enum NestingMode {
    Invalid = 0,
    Single = 1,
    List = 2,
    Set = 3,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ServerCapabilities {
    #[prost(bool, tag = "1")]
    pub plan_destroy: bool,
    #[prost(bool, tag = "2")]
    pub get_provider_schema_optional: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct GetProviderSchemaResponse {
    #[prost(message, optional, tag = "1")]
    pub provider: Option<Schema>,
    #[prost(btree_map = "string, message", tag = "2")]
    pub resource_schemas: BTreeMap<String, Schema>,
    #[prost(message, optional, tag = "6")]
    pub server_capabilities: Option<ServerCapabilities>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ValidateProviderConfigRequest {
    #[prost(message, optional, tag = "1")]
    pub config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ValidateProviderConfigResponse {
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ConfigureProviderRequest {
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ConfigureProviderResponse {
    #[prost(message, repeated, tag = "1")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct StopProviderResponse {
    #[prost(string, tag = "1")]
    pub error: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ValidateResourceConfigRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ValidateResourceConfigResponse {
    #[prost(message, repeated, tag = "1")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct UpgradeResourceStateRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "3")]
    pub raw_state: Option<RawState>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct UpgradeResourceStateResponse {
    #[prost(message, optional, tag = "1")]
    pub upgraded_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ReadResourceRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub current_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ReadResourceResponse {
    #[prost(message, optional, tag = "1")]
    pub new_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
    #[prost(bytes = "vec", tag = "3")]
    pub private: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PlanResourceChangeRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub proposed_new_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub config: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub prior_private: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct PlanResourceChangeResponse {
    #[prost(message, optional, tag = "1")]
    pub planned_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub requires_replace: Vec<AttributePath>,
    #[prost(bytes = "vec", tag = "3")]
    pub planned_private: Vec<u8>,
    #[prost(message, repeated, tag = "4")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ApplyResourceChangeRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub planned_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "5")]
    pub planned_private: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ApplyResourceChangeResponse {
    #[prost(message, optional, tag = "1")]
    pub new_state: Option<DynamicValue>,
    #[prost(bytes = "vec", tag = "2")]
    pub private: Vec<u8>,
    #[prost(message, repeated, tag = "3")]
    pub diagnostics: Vec<Diagnostic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ImportResourceStateRequest {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(string, tag = "2")]
    pub id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ImportedResource {
    #[prost(string, tag = "1")]
    pub type_name: String,
    #[prost(message, optional, tag = "2")]
    pub state: Option<DynamicValue>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct ImportResourceStateResponse {
    #[prost(message, repeated, tag = "1")]
    pub imported_resources: Vec<ImportedResource>,
    #[prost(message, repeated, tag = "2")]
    pub diagnostics: Vec<Diagnostic>,
}
