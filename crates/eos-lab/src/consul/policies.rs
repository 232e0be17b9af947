//! Who may do what in Consul.

/// A Nomad agent: it registers services and asks for what runs where. Tasks have tokens of their own.
pub const NOMAD_AGENT: Policy = Policy {
    name: "nomad-agent",
    rules: r#"agent_prefix "" {
  policy = "read"
}

key_prefix "" {
  policy = "read"
}

node_prefix "" {
  policy = "read"
}

service_prefix "" {
  policy = "write"
}
"#,
};

/// A task that looks up others.
pub const NOMAD_TASKS: Policy = Policy {
    name: "nomad-tasks",
    rules: r#"node_prefix "" {
  policy = "read"
}

service_prefix "" {
  policy = "read"
}
"#,
};

/// Vault, which makes tokens for Terraform runs.
pub const VAULT: Policy = Policy {
    name: "vault",
    rules: "acl = \"write\"\n",
};

/// That of one Terraform run comes with the formula, which makes such runs.
pub const DEPLOY: &str = "eos-deploy";
pub const DEPLOY_FILE: &str = "files/eos-deploy.consul.hcl";

/// The program itself: it reads everything, and holds the locks of its operations.
pub const PROGRAM: Policy = Policy {
    name: "eos-program",
    rules: r#"mesh     = "read"
operator = "read"

agent_prefix "" {
  policy = "read"
}

key_prefix "terraform/" {
  policy = "write"
}

node_prefix "" {
  policy = "read"
}

service_prefix "" {
  policy = "read"
}

session_prefix "" {
  policy = "write"
}
"#,
};

pub const ALL: [Policy; 4] = [NOMAD_AGENT, NOMAD_TASKS, VAULT, PROGRAM];

pub struct Policy {
    pub name: &'static str,
    pub rules: &'static str,
}
