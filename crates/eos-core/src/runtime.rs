//! Text that is whole only when a task starts: addresses of other services, and secrets by name.
//!
//! A template of a recipe is evaluated when Eos compiles. What is not known then stands in the result as a mark, which
//! no value of a person can contain, and becomes a directive of the task's own template.

use crate::profile::Profile;
use std::fmt;

/// The marks are noncharacters: text from outside that holds one is refused.
const OPEN: char = '\u{FDD0}';
const CLOSE: char = '\u{FDD1}';

const SECRET: &str = "secret";
const SECRET_IN_QUOTES: &str = "secret_in_quotes";

/// Text that a filter has put between double quotes: the task puts secrets in by the same rules.
pub fn in_quotes(text: &str) -> String {
    text.replace(&format!("{OPEN}{SECRET} "), &format!("{OPEN}{SECRET_IN_QUOTES} "))
}

pub fn has_mark(text: &str) -> bool {
    text.contains([OPEN, CLOSE])
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    /// `host:port` of one instance of a service.
    Address(String),
    /// `host:port` of all of them, with spaces between.
    Addresses(String),
    Host(String),
    Port(String),
    /// A value of the component's own secret.
    Secret(String),
    /// The same between double quotes of another language: its own quotes and backslashes are escaped.
    SecretInQuotes(String),
    /// Where the task finds its secret files, and its other files.
    SecretsDirectory,
    FilesDirectory,
    /// The address of the host at which the task's own port of this label is.
    OwnAddress(String),
    /// What stands between these two is there once for each route that a proxy serves: it follows what is registered.
    EachRoute,
    EndRoute,
    /// The host name of the route.
    RouteHost,
    /// `host:port` of all instances that the route leads to, with spaces between.
    RouteAddresses,
    /// All that can be measured in the task's environment, as a list of targets for Prometheus. It follows what is
    /// registered, and so changes while the task runs.
    Measured,
}

impl Piece {
    pub fn mark(&self) -> String {
        let (kind, name) = match self {
            Self::Text(text) => return text.clone(),
            Self::Address(service) => ("address", service.as_str()),
            Self::Addresses(service) => ("addresses", service.as_str()),
            Self::Host(service) => ("host", service.as_str()),
            Self::Port(service) => ("port", service.as_str()),
            Self::Secret(item) => (SECRET, item.as_str()),
            Self::SecretInQuotes(item) => (SECRET_IN_QUOTES, item.as_str()),
            Self::SecretsDirectory => ("secrets_dir", ""),
            Self::FilesDirectory => ("files_dir", ""),
            Self::OwnAddress(label) => ("own_address", label.as_str()),
            Self::EachRoute => ("each_route", ""),
            Self::EndRoute => ("end_route", ""),
            Self::RouteHost => ("route_host", ""),
            Self::RouteAddresses => ("route_addresses", ""),
            Self::Measured => ("measured", ""),
        };
        format!("{OPEN}{kind} {name}{CLOSE}")
    }

    /// Directives that put what the piece stands for into a variable of the task's template.
    pub fn assignment(&self, variable: &str, lookup: Lookup<'_>) -> String {
        let declared = format!("{{{{ {variable} := \"\" }}}}");
        let one = |service: &str, value: &str| {
            format!(
                "{declared}{{{{ with nomadService \"{service}\" }}}}{{{{ with index . 0 }}}}{{{{ {variable} = {value} }}}}{{{{ end }}}}{{{{ end }}}}"
            )
        };
        match self {
            Self::Text(text) => format!(
                "{{{{ {variable} := {} }}}}",
                serde_json::Value::from(text.as_str())
            ),
            Self::Address(service) => one(service, "printf \"%s:%d\" .Address .Port"),
            Self::Host(service) => one(service, ".Address"),
            Self::Port(service) => one(service, "printf \"%d\" .Port"),
            Self::Addresses(service) => format!(
                "{declared}{{{{ range $i, $s := nomadService \"{service}\" }}}}{{{{ if $i }}}}{{{{ {variable} = printf \"%s \" {variable} }}}}{{{{ end }}}}{{{{ {variable} = printf \"%s%s:%d\" {variable} $s.Address $s.Port }}}}{{{{ end }}}}"
            ),
            Self::Secret(item) => format!(
                "{declared}{{{{ with {} }}}}{{{{ {variable} = {} }}}}{{{{ end }}}}",
                lookup.secrets(),
                lookup.item(item)
            ),
            Self::SecretInQuotes(item) => format!(
                "{declared}{{{{ with {} }}}}{{{{ {variable} = {} }}}}{{{{ end }}}}",
                lookup.secrets(),
                lookup.item_in_quotes(item)
            ),
            Self::SecretsDirectory => format!("{{{{ {variable} := env \"NOMAD_SECRETS_DIR\" }}}}"),
            Self::FilesDirectory => format!("{{{{ {variable} := env \"NOMAD_TASK_DIR\" }}}}"),
            Self::OwnAddress(label) => format!("{{{{ {variable} := env \"{}\" }}}}", own_address(label)),
            // A recipe may name them in files alone.
            Self::Measured | Self::EachRoute | Self::EndRoute | Self::RouteHost | Self::RouteAddresses => {
                declared
            }
        }
    }

    /// The service of another component that it names.
    pub fn service(&self) -> Option<&str> {
        match self {
            Self::Address(service) | Self::Addresses(service) | Self::Host(service) | Self::Port(service) => {
                Some(service)
            }
            _ => None,
        }
    }

    fn of(mark: &str) -> Option<Self> {
        let (kind, name) = mark.split_once(' ')?;
        let name = name.to_owned();
        Some(match kind {
            "address" => Self::Address(name),
            "addresses" => Self::Addresses(name),
            "host" => Self::Host(name),
            "port" => Self::Port(name),
            SECRET => Self::Secret(name),
            SECRET_IN_QUOTES => Self::SecretInQuotes(name),
            "secrets_dir" => Self::SecretsDirectory,
            "files_dir" => Self::FilesDirectory,
            "own_address" => Self::OwnAddress(name),
            "each_route" => Self::EachRoute,
            "end_route" => Self::EndRoute,
            "route_host" => Self::RouteHost,
            "route_addresses" => Self::RouteAddresses,
            "measured" => Self::Measured,
            _ => return None,
        })
    }
}

/// Where the template of a task looks up what is known late.
#[derive(Clone, Copy, Debug)]
pub struct Lookup<'a> {
    pub profile: Profile,
    /// The component that the task is of.
    pub component: &'a str,
}

impl Lookup<'_> {
    /// What gives the component's secrets. The job says which version of them it runs with, so that a new version is
    /// a new job, and an earlier job reads what it read before.
    pub fn secrets(self) -> String {
        match self.profile {
            Profile::Solo => format!("nomadVar \"nomad/jobs/{}\"", self.component),
            Profile::Full => format!(
                "secret (printf \"secret/data/%s/%s/app?version=%s\" (env \"NOMAD_NAMESPACE\") (env \"NOMAD_JOB_NAME\") (env \"NOMAD_META_{SECRET_VERSION}\"))"
            ),
        }
    }

    /// One of them.
    pub fn item(self, item: &str) -> String {
        match self.profile {
            Profile::Solo => format!(".{item}.Value"),
            Profile::Full => format!(".Data.data.{item}"),
        }
    }

    /// One of them, for a place between double quotes. No secret holds a control character.
    fn item_in_quotes(self, item: &str) -> String {
        let value = self.item(item);
        format!(r#"{value} | replaceAll "\\" "\\\\" | replaceAll "\"" "\\\"""#)
    }

    /// Every service of the task's environment that has the tags of `emit::nomad`, as targets that Prometheus reads from a file.
    fn measured(self) -> String {
        let (all, instances) = match self.profile {
            Profile::Solo => ("nomadServices", "nomadService .Name"),
            // Those that fail their check too: that they do is what somebody wants to be told.
            Profile::Full => ("services", "service (printf \"%s|any\" .Name)"),
        };
        let tag = |name: &str| format!("{{{{ $tags | regexReplaceAll \".*,{name}=([^,]*),.*\" \"$1\" }}}}");
        let labels = [
            ("__metrics_path__", tag(METRICS_TAG)),
            ("component", tag(COMPONENT_TAG)),
            ("environment", "{{ env \"NOMAD_NAMESPACE\" }}".to_owned()),
            ("service", "{{ .Name }}".to_owned()),
        ];
        let labels: Vec<String> = labels
            .iter()
            .map(|(name, value)| format!("\"{name}\": \"{value}\""))
            .collect();
        // A sidecar has the tags of the service beside it.
        let own = "{{ if not (.Name | regexMatch \"-sidecar-proxy$\") }}";
        format!(
            "[{{{{ $comma := \"\" }}}}{{{{ range {all} }}}}{own}{{{{ range {instances} }}}}{{{{ if .Tags | contains (printf \"{MEASURED_TAG}=%s\" (env \"NOMAD_NAMESPACE\")) }}}}{{{{ $tags := printf \",%s,\" (.Tags | join \",\") }}}}{{{{ $comma }}}}\n{{\"targets\": [\"{{{{ .Address }}}}:{{{{ .Port }}}}\"], \"labels\": {{{}}}}}{{{{ $comma = \",\" }}}}{{{{ end }}}}{{{{ end }}}}{{{{ end }}}}{{{{ end }}}}\n]",
            labels.join(", ")
        )
    }
}

/// Tags of a service that can be measured: of which component it is, in which environment, and at which path.
pub const COMPONENT_TAG: &str = "eos-component";
pub const MEASURED_TAG: &str = "eos-measured";
pub const METRICS_TAG: &str = "eos-metrics";

/// A tag of a service: the host name under which a proxy serves it.
pub const ROUTE_TAG: &str = "eos-route";

/// Every service of the task's namespace that has the tag, once for each host name. Anybody who can register a service
/// could write a tag: what is no host name is left out, and of two that want the same name the first has it.
const EACH_ROUTE: &str = "{{ range $service := nomadServices }}{{ range $tag := $service.Tags }}\
    {{ if $tag | regexMatch \"^eos-route=[a-z0-9-]+([.][a-z0-9-]+)*$\" }}\
    {{ $host := $tag | replaceAll \"eos-route=\" \"\" }}{{ $addresses := \"\" }}\
    {{ range $i, $s := nomadService $service.Name }}{{ if $i }}{{ $addresses = printf \"%s \" $addresses }}{{ end }}\
    {{ $addresses = printf \"%s%s:%d\" $addresses $s.Address $s.Port }}{{ end }}\
    {{ if and $addresses (not (scratch.Key $host)) }}{{ scratch.Set $host true }}";
const END_ROUTE: &str = "{{ end }}{{ end }}{{ end }}{{ end }}";

/// In the meta of a job: the version of the secrets it runs with.
pub const SECRET_VERSION: &str = "eos_secret_version";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuntimeText(pub Vec<Piece>);

impl RuntimeText {
    /// An evaluated template taken apart.
    pub fn read(text: &str) -> Result<Self, String> {
        // Most are one piece, and a compilation keeps them: no room is left at their end.
        let mut pieces = Vec::with_capacity(1);
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(OPEN) {
            if !before.is_empty() {
                pieces.push(Piece::Text(before.to_owned()));
            }
            let piece = after
                .split_once(CLOSE)
                .and_then(|(mark, rest)| Some((Piece::of(mark)?, rest)));
            let Some((piece, after)) = piece else {
                return Err(
                    "a value that is known only when the task starts was changed by a filter".to_owned(),
                );
            };
            pieces.push(piece);
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(Piece::Text(rest.to_owned()));
        }
        pieces.shrink_to_fit();
        Ok(Self(pieces))
    }

    /// Of pieces, with texts that lie side by side made one.
    pub fn joined(pieces: Vec<Piece>) -> Self {
        let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
                (_, piece) => joined.push(piece),
            }
        }
        Self(joined)
    }

    /// The text, if all of it is known.
    pub fn known(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub fn text_contains(&self, pattern: &str) -> bool {
        let holds = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains(pattern));
        self.0.iter().any(holds)
    }

    /// Whether it is all that can be measured, and nothing else: the same wherever it stands.
    pub fn is_measured(&self) -> bool {
        self.0 == [Piece::Measured]
    }

    /// Whether what it holds changes while the task runs, so that the task is to look for itself.
    pub fn is_live(&self) -> bool {
        self.0.contains(&Piece::Measured) || self.follows_routes()
    }

    /// Whether it is there once for each route.
    pub fn follows_routes(&self) -> bool {
        self.0.contains(&Piece::EachRoute)
    }

    /// The names of the secrets in it.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Secret(item) | Piece::SecretInQuotes(item) => Some(item.as_str()),
            _ => None,
        })
    }

    /// As a word of a task's command line, where Nomad itself puts in what it knows of the task. Nothing else can stand there.
    pub fn word(&self) -> Option<String> {
        let mut word = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => word.push_str(text),
                Piece::SecretsDirectory => word.push_str("${NOMAD_SECRETS_DIR}"),
                Piece::FilesDirectory => word.push_str("${NOMAD_TASK_DIR}"),
                Piece::OwnAddress(label) => word.push_str(&format!("${{{}}}", own_address(label))),
                _ => return None,
            }
        }
        Some(word)
    }

    /// As a template that Nomad renders when the task starts.
    pub fn nomad_template(&self, lookup: Lookup<'_>) -> String {
        let mut out = String::new();
        let mut pieces = self.0.iter().peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Text(text) => out.push_str(&literal(text, pieces.peek().is_some())),
                Piece::Address(service) => {
                    out.push_str(&first(service, "{{ .Address }}:{{ .Port }}"));
                }
                Piece::Host(service) => out.push_str(&first(service, "{{ .Address }}")),
                Piece::Port(service) => out.push_str(&first(service, "{{ .Port }}")),
                Piece::Addresses(service) => out.push_str(&format!(
                    "{{{{ range $i, $s := nomadService \"{service}\" }}}}{{{{ if $i }}}} {{{{ end }}}}{{{{ $s.Address }}}}:{{{{ $s.Port }}}}{{{{ end }}}}"
                )),
                Piece::Secret(item) => out.push_str(&format!(
                    "{{{{ with {} }}}}{{{{ {} }}}}{{{{ end }}}}",
                    lookup.secrets(),
                    lookup.item(item)
                )),
                Piece::SecretInQuotes(item) => out.push_str(&format!(
                    "{{{{ with {} }}}}{{{{ {} }}}}{{{{ end }}}}",
                    lookup.secrets(),
                    lookup.item_in_quotes(item)
                )),
                Piece::SecretsDirectory => out.push_str("{{ env \"NOMAD_SECRETS_DIR\" }}"),
                Piece::FilesDirectory => out.push_str("{{ env \"NOMAD_TASK_DIR\" }}"),
                Piece::OwnAddress(label) => out.push_str(&format!("{{{{ env \"{}\" }}}}", own_address(label))),
                Piece::EachRoute => out.push_str(EACH_ROUTE),
                Piece::EndRoute => out.push_str(END_ROUTE),
                Piece::RouteHost => out.push_str("{{ $host }}"),
                Piece::RouteAddresses => out.push_str("{{ $addresses }}"),
                Piece::Measured => out.push_str(&lookup.measured()),
            }
        }
        out
    }
}

/// Nomad's variable for it.
fn own_address(label: &str) -> String {
    format!("NOMAD_IP_{}", label.replace('-', "_"))
}

fn first(service: &str, what: &str) -> String {
    format!(
        "{{{{ with nomadService \"{service}\" }}}}{{{{ with index . 0 }}}}{what}{{{{ end }}}}{{{{ end }}}}"
    )
}

/// Text that the template engine leaves as it is. A brace before a directive would be taken for a part of it.
fn literal(text: &str, directive_follows: bool) -> String {
    let escaped = text.replace("{{", "{{ \"{{\" }}");
    match escaped.strip_suffix('{') {
        Some(rest) if directive_follows => format!("{rest}{{{{ \"{{\" }}}}"),
        _ => escaped,
    }
}

/// For people: what is not known yet stands in angle brackets.
impl fmt::Display for RuntimeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Address(service) => write!(f, "<address of {service}>")?,
                Piece::Addresses(service) => write!(f, "<addresses of {service}>")?,
                Piece::Host(service) => write!(f, "<host of {service}>")?,
                Piece::Port(service) => write!(f, "<port of {service}>")?,
                Piece::Secret(item) | Piece::SecretInQuotes(item) => write!(f, "<secret {item}>")?,
                Piece::SecretsDirectory => f.write_str("<secrets directory>")?,
                Piece::FilesDirectory => f.write_str("<files directory>")?,
                Piece::OwnAddress(_) => f.write_str("<own address>")?,
                Piece::EachRoute => f.write_str("<for each route>")?,
                Piece::EndRoute => f.write_str("<end>")?,
                Piece::RouteHost => f.write_str("<host name>")?,
                Piece::RouteAddresses => f.write_str("<addresses>")?,
                Piece::Measured => f.write_str("<what can be measured>")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read_back() {
        let pieces = vec![
            Piece::Text("postgres://u:".into()),
            Piece::Secret("database_password".into()),
            Piece::Text("@".into()),
            Piece::Address("mattermost-database".into()),
            Piece::FilesDirectory,
        ];
        let marked: String = pieces.iter().map(Piece::mark).collect();
        assert_eq!(RuntimeText::read(&marked), Ok(RuntimeText(pieces)));
        assert_eq!(RuntimeText::read("plain").unwrap().known(), Some("plain"));
        assert!(RuntimeText::read("\u{FDD0}ADDRESS x\u{FDD1}").is_err());
    }

    #[test]
    fn a_secret_between_quotes_is_escaped_when_the_task_starts() {
        let quoted = in_quotes(&format!("\"{}\"", Piece::Secret("password".into()).mark()));
        let text = RuntimeText::read(&quoted).unwrap();
        assert_eq!(text.secrets().collect::<Vec<_>>(), ["password"]);
        let lookup = Lookup {
            profile: Profile::Solo,
            component: "p",
        };
        assert_eq!(
            text.nomad_template(lookup),
            r#""{{ with nomadVar "nomad/jobs/p" }}{{ .password.Value | replaceAll "\\" "\\\\" | replaceAll "\"" "\\\"" }}{{ end }}""#
        );
    }

    #[test]
    fn braces_of_a_person_are_no_directives() {
        let text = RuntimeText(vec![Piece::Text("a{{b}} {".into()), Piece::Host("s".into())]);
        assert_eq!(
            text.nomad_template(Lookup {
                profile: Profile::Solo,
                component: "p"
            }),
            "a{{ \"{{\" }}b}} {{ \"{\" }}{{ with nomadService \"s\" }}{{ with index . 0 }}{{ .Address }}{{ end }}{{ end }}"
        );
    }
}
