//! What there is in the engines, made by Eos or not: minions, Nomad clients, jobs and services. Read only.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eos_core::discover::{Found, Grains, Group, Job, Minion, Node, Service, Task};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::consul::ConsulClient;
use crate::discovery::allocation_of;
use crate::engines::Engines;
use crate::error::EngineError;
use crate::http::Request;
use crate::nomad::{self, NomadClient, null_is_empty};
use crate::salt::MINION_WAIT;

/// How long all minions may take to answer; Salt itself waits 10 s for those that are gone.
const MINIONS: Duration = Duration::from_secs(30);

/// (namespace, job)
type JobKey = (String, String);

/// Everything that the engines of the estate have, in all namespaces.
pub async fn find(engines: &Engines) -> Result<Found, EngineError> {
    let nomad = &engines.nomad;
    let (minions, nodes, jobs, allocations) = tokio::try_join!(
        minions(engines),
        nomad.nodes(),
        job_stubs(nomad),
        allocations(nomad)
    )?;
    let mut clients = Vec::new();
    for one in nodes {
        clients.push(node(nomad, one).await?);
    }
    let by_nomad = nomad_services(nomad).await?;
    let by_consul = match &engines.consul {
        Some(consul) => consul_services(consul, &allocations).await?,
        None => Vec::new(),
    };
    Ok(Found {
        minions,
        nodes: clients,
        jobs: described(nomad, jobs, &allocations).await?,
        services: by_nomad.into_iter().chain(by_consul).collect(),
        volumes_below: BTreeMap::new(),
    })
}

async fn minions(engines: &Engines) -> Result<Vec<Minion>, EngineError> {
    let answers = engines
        .salt
        .call_all("eos.info", json!({}), MINION_WAIT, MINIONS)
        .await?;
    let minion = |(id, answer): (String, Result<Value, EngineError>)| Minion {
        id,
        // One without the formula says that it has no such function: it is there.
        answers: !matches!(&answer, Err(error) if error.kind == crate::ErrorKind::Unreachable),
        grains: answer.map_or_else(|_| Grains::default(), |info| grains(&info)),
    };
    Ok(answers.into_iter().map(minion).collect())
}

fn grains(info: &Value) -> Grains {
    let grain = |name: &str| info.get("grains").and_then(|grains| grains.get(name));
    let text = |name: &str| grain(name).and_then(Value::as_str);
    let os = text("os").map(|os| [os, text("osrelease").unwrap_or_default()].join(" "));
    let addresses = grain("ipv4").and_then(Value::as_array);
    Grains {
        os: os.map(|os| os.trim_end().to_owned()),
        cpus: grain("num_cpus").and_then(Value::as_u64),
        memory: grain("mem_total").and_then(Value::as_u64),
        addresses: addresses
            .into_iter()
            .flatten()
            .filter_map(|address| address.as_str().map(str::to_owned))
            .collect(),
    }
}

/// A client's own address may be one that only Nomad uses; its tasks answer at the one it found in its network.
async fn node(nomad: &NomadClient, found: nomad::Node) -> Result<Node, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Fingerprint {
        #[serde(default, deserialize_with = "null_is_empty")]
        attributes: BTreeMap<String, String>,
    }
    let request = Request {
        object: &format!("node {}", found.name),
        path: &format!("node/{}", found.id),
        query: &[],
    };
    let mut fingerprint: Fingerprint = nomad.get(request).await?;
    let address = fingerprint.attributes.remove("unique.network.ip-address");
    Ok(Node {
        address: address.unwrap_or(found.address),
        name: found.name,
        datacenter: found.datacenter,
        ready: found.status == "ready",
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct JobStub {
    #[serde(rename = "ID")]
    id: String,
    namespace: String,
    #[serde(rename = "ParentID", default)]
    parent: String,
    #[serde(default)]
    stop: bool,
    meta: Option<BTreeMap<String, String>>,
}

/// Jobs that are to run; one run of a periodic job is no job of its own.
async fn job_stubs(nomad: &NomadClient) -> Result<Vec<JobStub>, EngineError> {
    let request = Request {
        object: "jobs",
        path: "jobs",
        query: &[("namespace", "*"), ("meta", "true")],
    };
    let mut jobs: Vec<JobStub> = nomad.get(request).await?;
    jobs.retain(|job| !job.stop && job.parent.is_empty());
    Ok(jobs)
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Allocation {
    #[serde(rename = "ID")]
    id: String,
    namespace: String,
    #[serde(rename = "JobID")]
    job: String,
    node_name: String,
    client_status: String,
}

async fn allocations(nomad: &NomadClient) -> Result<Vec<Allocation>, EngineError> {
    let request = Request {
        object: "allocations",
        path: "allocations",
        query: &[("namespace", "*")],
    };
    nomad.get(request).await
}

/// The jobs with where they run; what is in them is read of those that Eos did not make.
async fn described(
    nomad: &NomadClient,
    stubs: Vec<JobStub>,
    allocations: &[Allocation],
) -> Result<Vec<Job>, EngineError> {
    let mut jobs = Vec::new();
    for stub in stubs {
        let component = stub.meta.and_then(|mut meta| meta.remove("eos_component"));
        let groups = match component {
            Some(_) => Vec::new(),
            None => groups(nomad, &stub.namespace, &stub.id).await?,
        };
        let running = allocations.iter().filter(|one| {
            one.client_status == "running" && one.namespace == stub.namespace && one.job == stub.id
        });
        jobs.push(Job {
            hosts: running.map(|one| one.node_name.clone()).collect(),
            namespace: stub.namespace,
            id: stub.id,
            component,
            groups,
        });
    }
    Ok(jobs)
}

async fn groups(nomad: &NomadClient, namespace: &str, id: &str) -> Result<Vec<Group>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Definition {
        #[serde(default, deserialize_with = "null_is_empty")]
        task_groups: Vec<DefinedGroup>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct DefinedGroup {
        name: String,
        count: u64,
        #[serde(default, deserialize_with = "null_is_empty")]
        networks: Vec<Network>,
        #[serde(default, deserialize_with = "null_is_empty")]
        tasks: Vec<DefinedTask>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Network {
        #[serde(default, deserialize_with = "null_is_empty")]
        reserved_ports: Vec<Port>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Port {
        label: String,
        value: u64,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct DefinedTask {
        #[serde(default, deserialize_with = "null_is_empty")]
        config: BTreeMap<String, Value>,
        resources: Resources,
    }
    #[derive(Deserialize)]
    struct Resources {
        #[serde(rename = "CPU", default)]
        cpu: u64,
        #[serde(rename = "MemoryMB", default)]
        memory: u64,
    }
    let request = Request {
        object: &format!("job {id}"),
        path: &format!("job/{id}"),
        query: &[("namespace", namespace)],
    };
    let definition: Definition = nomad.get(request).await?;
    let task = |task: DefinedTask| Task {
        image: task
            .config
            .get("image")
            .and_then(Value::as_str)
            .map(str::to_owned),
        cpu: task.resources.cpu,
        memory: task.resources.memory,
    };
    let group = |group: DefinedGroup| Group {
        name: group.name,
        count: group.count,
        tasks: group.tasks.into_iter().map(task).collect(),
        static_ports: group
            .networks
            .into_iter()
            .flat_map(|network| network.reserved_ports)
            .map(|port| (port.label, port.value))
            .collect(),
    };
    Ok(definition.task_groups.into_iter().map(group).collect())
}

async fn nomad_services(nomad: &NomadClient) -> Result<Vec<Service>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct OfNamespace {
        namespace: String,
        services: Vec<Named>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Named {
        service_name: String,
    }
    let request = Request {
        object: "services",
        path: "services",
        query: &[("namespace", "*")],
    };
    let mut places = Places::default();
    for OfNamespace { namespace, services } in nomad.get::<Vec<OfNamespace>>(request).await? {
        for Named { service_name } in services {
            for instance in nomad.service(&namespace, &service_name).await? {
                let job = Some((namespace.clone(), instance.job_id));
                let place = format!("{}:{}", instance.address, instance.port);
                places.add(&service_name, job, place);
            }
        }
    }
    Ok(places.services("Nomad"))
}

async fn consul_services(
    consul: &ConsulClient,
    allocations: &[Allocation],
) -> Result<Vec<Service>, EngineError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Registered {
        node: String,
        address: String,
        #[serde(rename = "ServiceID")]
        service_id: String,
        service_address: String,
        service_port: u16,
    }
    let request = Request {
        object: "services",
        path: "catalog/services",
        query: &[],
    };
    let names: BTreeMap<String, Value> = consul.get(request).await?;
    let mut places = Places::default();
    for name in names.into_keys() {
        let request = Request {
            object: &format!("service {name}"),
            path: &format!("catalog/service/{name}"),
            query: &[],
        };
        for instance in consul.get::<Vec<Registered>>(request).await? {
            let allocation = allocation_of(&instance.service_id);
            let allocation = allocation.and_then(|id| allocations.iter().find(|one| one.id == id));
            let job = allocation.map(|one| (one.namespace.clone(), one.job.clone()));
            let address = match instance.service_address.is_empty() {
                true => instance.address,
                false => instance.service_address,
            };
            let port = match instance.service_port {
                0 => String::new(),
                port => format!(":{port}"),
            };
            places.add(&name, job, format!("{address}{port} on {}", instance.node));
        }
    }
    Ok(places.services("Consul"))
}

/// Instances by service and by the job that they were registered for.
#[derive(Default)]
struct Places(BTreeMap<(String, Option<JobKey>), BTreeSet<String>>);

impl Places {
    fn add(&mut self, name: &str, job: Option<JobKey>, place: String) {
        self.0.entry((name.to_owned(), job)).or_default().insert(place);
    }

    fn services(self, catalogue: &'static str) -> Vec<Service> {
        let service = |((name, job), places)| Service {
            name,
            catalogue,
            job,
            places,
        };
        self.0.into_iter().map(service).collect()
    }
}
