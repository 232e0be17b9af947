//! `eos serve-hello`: the page of the recipe hello, which shows the chain that brought it up.

use super::Ended;
use super::serve::{HTML, METRICS, TEXT, escape, not_found, serve};
use crate::env_names::HELLO_GREETING;
use crate::problem::Problem;
use hyper::StatusCode;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};

/// Serve the page of the recipe hello, on the address from Nomad
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address to listen on, in place of the one from Nomad
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

pub async fn run(args: &Args) -> Ended {
    let ip = args.listen.clone().or_else(|| variable("NOMAD_IP_http"));
    let address = address(ip, variable("NOMAD_PORT_http"))?;
    let page = page(&Facts::read());
    let shown = AtomicU64::new(0);
    serve(address, move |path| match path {
        "/" => {
            shown.fetch_add(1, Ordering::Relaxed);
            (StatusCode::OK, HTML, page.clone())
        }
        "/health" => (StatusCode::OK, TEXT, "ok".to_owned()),
        "/metrics" => (StatusCode::OK, METRICS, metrics(shown.load(Ordering::Relaxed))),
        _ => not_found(),
    })
    .await
}

fn metrics(shown: u64) -> String {
    format!(
        "# HELP eos_hello_pages_total How often the page was shown.\n\
         # TYPE eos_hello_pages_total counter\n\
         eos_hello_pages_total {shown}\n"
    )
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn address(ip: Option<String>, port: Option<String>) -> Result<SocketAddr, Problem> {
    let wrong = |name: &str, value: &str| {
        Problem::usage(
            format!("{name} cannot be \"{value}\""),
            "Nomad sets it for its tasks",
        )
    };
    let ip = ip.unwrap_or_else(|| "127.0.0.1".to_owned());
    let port = port.unwrap_or_else(|| "8080".to_owned());
    let ip: IpAddr = ip.parse().map_err(|_| wrong("NOMAD_IP_http", &ip))?;
    let port: u16 = port.parse().map_err(|_| wrong("NOMAD_PORT_http", &port))?;
    Ok(SocketAddr::new(ip, port))
}

/// The task's knowledge of its place, from Nomad's variables.
#[derive(Default)]
struct Facts {
    greeting: String,
    job: String,
    namespace: String,
    component: String,
    recipe: String,
    digest: String,
    allocation: String,
    node: String,
    datacenter: String,
}

impl Facts {
    fn read() -> Self {
        let known = |name: &str| variable(name).unwrap_or_else(|| "unknown".to_owned());
        Self {
            greeting: variable(HELLO_GREETING).unwrap_or_else(|| "Hello from Eos".to_owned()),
            job: known("NOMAD_JOB_NAME"),
            namespace: known("NOMAD_NAMESPACE"),
            component: known("NOMAD_META_eos_component"),
            recipe: known("NOMAD_META_eos_recipe"),
            digest: known("NOMAD_META_eos_digest"),
            allocation: known("NOMAD_ALLOC_ID"),
            node: variable("NOMAD_NODE_NAME")
                .or_else(host_name)
                .unwrap_or_else(|| "unknown".to_owned()),
            datacenter: known("NOMAD_DC"),
        }
    }
}

/// Nomad does not tell a task the name of its node.
fn host_name() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .map(|name| name.trim().to_owned())
}

fn page(facts: &Facts) -> String {
    let fields = |fields: &[(&str, &str)]| -> String {
        fields
            .iter()
            .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value)))
            .collect()
    };
    let file = format!("pillar/infrastructure/{}.sls", facts.namespace);
    let workspace = format!("{}/{}", facts.namespace, facts.component);
    let steps = [
        (
            "Pillar",
            "holds the request",
            fields(&[
                ("file", &file),
                ("component", &facts.component),
                ("recipe", &facts.recipe),
            ]),
        ),
        (
            "Salt",
            "ran every step",
            fields(&[("states", &format!("components/{}", facts.component))]),
        ),
        (
            "Terraform",
            "owns the job",
            fields(&[("workspace", &workspace), ("digest", &facts.digest)]),
        ),
        (
            "Nomad",
            "runs it",
            fields(&[
                ("job", &facts.job),
                ("namespace", &facts.namespace),
                ("allocation", &facts.allocation),
                ("host", &facts.node),
                ("datacenter", &facts.datacenter),
            ]),
        ),
    ];
    let chain: String = steps
        .iter()
        .map(|(name, role, fields)| format!("<li><h2>{name}</h2><p>{role}</p><dl>{fields}</dl></li>\n"))
        .collect();
    let greeting = escape(&facts.greeting);
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<title>{greeting}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{greeting}</h1>
<p class=\"lead\">One sentence, compiled and applied. This is the chain that brought this page up.</p>
<ol>
{chain}</ol>
<p class=\"foot\">Health: <a href=\"/health\">/health</a></p>
</main>
</body>
</html>
"
    )
}

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1c1d21;--soft:#5d6068;--line:#d9dbe0;--page:#fbfaf7;--card:#fff;--dawn:#c2552d}
@media(prefers-color-scheme:dark){:root{--ink:#ececee;--soft:#a2a5ad;--line:#373a41;--page:#17181b;--card:#1f2125;--dawn:#f08a5d}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{max-width:44rem;margin:0 auto;padding:3.5rem 1.25rem}
h1{margin:0;font-size:2.2rem;line-height:1.15;letter-spacing:-.02em;overflow-wrap:anywhere;white-space:pre-wrap}
.lead{margin:.75rem 0 2.25rem;color:var(--soft)}
ol{list-style:none;margin:0;padding:0;border-left:3px solid var(--dawn)}
li{position:relative;margin:0 0 1rem 1.5rem;padding:.9rem 1.1rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
li:last-child{margin-bottom:0}
li::before{content:'';position:absolute;left:-1.95rem;top:1.3rem;width:.75rem;height:.75rem;border-radius:50%;background:var(--dawn)}
h2{display:inline;margin:0;font-size:1.05rem}
li>p{display:inline;margin:0 0 0 .5rem;color:var(--soft)}
dl{display:grid;grid-template-columns:6.5rem 1fr;gap:.15rem .75rem;margin:.6rem 0 0;font-size:.9rem}
dt{color:var(--soft)}
dd{margin:0;font-family:ui-monospace,monospace;overflow-wrap:anywhere}
.foot{margin-top:2.25rem;color:var(--soft);font-size:.9rem}
a{color:var(--dawn)}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_shows_the_chain_and_escapes_what_it_is_given() {
        let facts = Facts {
            greeting: "<script>alert(1)</script>".to_owned(),
            job: "hello".to_owned(),
            allocation: "8c1f".to_owned(),
            ..Facts::default()
        };
        let page = page(&facts);
        assert!(!page.contains("<script>"), "{page}");
        assert!(page.contains("&lt;script&gt;"), "{page}");
        for part in ["Pillar", "Salt", "Terraform", "Nomad", "8c1f"] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn the_address_is_what_nomad_says() {
        assert_eq!(address(None, None).unwrap().to_string(), "127.0.0.1:8080");
        assert_eq!(
            address(Some("::1".into()), Some("23000".into()))
                .unwrap()
                .to_string(),
            "[::1]:23000"
        );
        assert!(address(Some("x".into()), None).is_err());
        assert!(address(None, Some("70000".into())).is_err());
    }
}
