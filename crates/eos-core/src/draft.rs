//! A draft: what a person says of a program for which there is no recipe, and the recipe that says the same.
//!
//! Values stay out of the recipe's text: they are options of the component. `with_values` writes them into a recipe as its
//! defaults, for who wants to make more of it.

use crate::diagnostic::Diagnostic;
use crate::expand::{MEASURED, ROUTES, SERVICES, VOLUMES, flag};
use crate::image::Reference;
use crate::intent::Options;
use crate::name::{ENVIRONMENTS, quoted};
use crate::option::{self, BUILT_IN, HIDDEN, OptionType, is_absolute, is_figure};
use crate::recipe::Recipe;
use crate::splice;
use crate::template::{FACTS, OUTPUT_FACTS, TASK_FACTS};
use crate::yaml::{self, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The label of the first port, which checks and host names are about.
const MAIN: &str = "main";
/// Characters of a secret that Eos makes.
const GENERATE: i64 = 32;
/// Words in the name of a variable that holds a secret.
const SECRET_WORDS: &[&str] = &[
    "apikey",
    "credential",
    "credentials",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "private",
    "pwd",
    "secret",
    "secrets",
    "token",
];
/// Endings of variables that hold a path and no value.
const PATH_WORDS: &[&str] = &["dir", "directory", "file", "path"];

/// The words of a person, as they stand in flags or answers.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// With its digest.
    pub image: Option<Reference>,
    /// In place of an image.
    pub program: Vec<String>,
    pub args: Vec<String>,
    pub ports: Vec<String>,
    pub env: Vec<String>,
    pub secrets: Vec<String>,
    pub volumes: Vec<String>,
    pub check: Option<String>,
    pub domain: Option<String>,
    pub user: Option<String>,
    /// By option: memory, cpu and replicas.
    pub figures: BTreeMap<String, String>,
}

/// What those words mean.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The recipe that says it.
    pub recipe: String,
    /// The values of its options.
    pub options: Options,
    /// Secret options that a person gives, in the order in which they were said.
    pub given: Vec<String>,
}

struct Port {
    label: String,
    to: u16,
    fixed: Option<u16>,
    udp: bool,
}

struct Volume {
    name: String,
    size: String,
    path: String,
}

struct Secret {
    variable: String,
    given: bool,
}

impl Draft {
    /// Reads the words, and says all that is wrong with them. `taken` are names that no option may have.
    pub fn read(name: &str, words: &Words, taken: &BTreeSet<String>) -> Result<Self, Vec<Diagnostic>> {
        let mut found = Vec::new();
        let ports = ports(words, &mut found);
        let volumes = each(&words.volumes, &mut found, volume);
        let env = each(&words.env, &mut found, variable);
        let secrets = each(&words.secrets, &mut found, secret);
        let variables = env.iter().map(|(name, _)| name);
        let variables = variables.chain(secrets.iter().map(|secret| &secret.variable));
        twice("Variable", variables, &mut found);
        twice("Volume", volumes.iter().map(|volume| &volume.name), &mut found);
        let figures = figures(words, !volumes.is_empty(), &mut found);
        if words.domain.is_some() && ports.is_empty() {
            let words = "A host name needs a port that it leads to";
            found.push(Diagnostic::new(words).hint("Add --port, such as --port 8080"));
        }
        let owner = owner(words.user.as_deref(), !volumes.is_empty(), &mut found);
        let check = check(words, ports.first(), &mut found);
        if !found.is_empty() {
            return Err(found);
        }
        let mut draft = Writing::new(words, taken, &volumes);
        draft.image(words);
        draft.ports(&ports, words);
        draft.variables(&env, &secrets);
        draft.volumes(&volumes, &owner);
        draft.options.extend(figures);
        draft.finish(name, words, check)
    }
}

/// What is written of a recipe so far.
struct Writing {
    taken: BTreeSet<String>,
    options: Options,
    given: Vec<String>,
    specs: Vec<(String, Value)>,
    needs: Vec<(String, Value)>,
    service: Vec<(String, Value)>,
    outputs: Vec<(String, Value)>,
}

impl Writing {
    fn new(words: &Words, flags: &BTreeSet<String>, volumes: &[Volume]) -> Self {
        let built_in = BUILT_IN.iter().map(|option| option.name.as_str());
        let facts = [FACTS, TASK_FACTS, OUTPUT_FACTS].concat();
        let facts = facts.into_iter().chain([VOLUMES, SERVICES, ROUTES, MEASURED]);
        let own = ["image", "port", "domain"].into_iter();
        let needs = volumes.iter().map(|volume| volume.name.as_str());
        let taken = built_in.chain(facts).chain(own).chain(needs).map(str::to_owned);
        let mut service = Vec::new();
        match volumes.is_empty() {
            true => service.push(("replicas", everywhere(1))),
            false => service.push(("instances", text("one"))),
        }
        service.extend([("cpu", everywhere(100)), ("memory", everywhere(256))]);
        if let Some(user) = &words.user {
            service.push(("user", literal(user)));
        }
        Self {
            taken: taken.chain(flags.iter().cloned()).collect(),
            options: Options::new(),
            given: Vec::new(),
            specs: Vec::new(),
            needs: Vec::new(),
            service: service
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            outputs: Vec::new(),
        }
    }

    fn set(&mut self, key: &str, value: Value) {
        self.service.push((key.to_owned(), value));
    }

    fn option(&mut self, name: &str, fields: Vec<(&str, Value)>) {
        self.specs.push((name.to_owned(), Value::map(fields)));
    }

    /// A free name like this one.
    fn free(&mut self, like: &str) -> String {
        let mut name = like.to_ascii_lowercase().trim_start_matches('_').to_owned();
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
            name = format!("variable_{name}");
        }
        while !self.taken.insert(name.clone()) {
            name.push_str("_value");
        }
        name
    }

    fn image(&mut self, words: &Words) {
        let args = || Value::list(words.args.iter().map(|word| literal(word)));
        match &words.image {
            Some(image) => {
                let help = text("Image, which Eos finds by its digest");
                self.option("image", vec![("type", text("image")), ("help", help)]);
                self.options.insert("image".to_owned(), image.to_string().into());
                self.set("image", text("{{ image }}"));
                if !words.args.is_empty() {
                    self.set("args", args());
                }
            }
            None => {
                let program = words.program.iter().chain(&words.args);
                self.set("program", Value::list(program.map(|word| literal(word))));
            }
        }
    }

    fn ports(&mut self, ports: &[Port], words: &Words) {
        let mut written = Vec::new();
        for (index, port) in ports.iter().enumerate() {
            let option = match index {
                0 => "port".to_owned(),
                _ => self.free(&port.label),
            };
            let help = match words.image {
                Some(_) => format!("Port of the host that leads to {} of the container", port.to),
                None => "Port of the host that it listens on".to_owned(),
            };
            let fields = vec![
                ("type", text("port")),
                ("default", Value::Null),
                ("help", text(format!("{help}; Nomad chooses one without it"))),
            ];
            self.option(&option, fields);
            let mut fields = vec![];
            if words.image.is_some() {
                fields.push(("to", Value::Integer(port.to.into())));
            }
            fields.push(("static", expression(&option)));
            if port.udp {
                fields.push(("protocol", text("udp")));
            }
            written.push((port.label.clone(), Value::map(fields)));
            if let Some(fixed) = port.fixed {
                self.options.insert(option, fixed.into());
            }
        }
        if written.is_empty() {
            return;
        }
        self.set("ports", Value::map(written));
        let fields = vec![
            ("type", text("domain")),
            ("default", Value::Null),
            ("help", text("Host name that the proxy serves it under")),
        ];
        self.option("domain", fields);
        if let Some(domain) = &words.domain {
            self.options.insert("domain".to_owned(), domain.as_str().into());
        }
        let is_web = words.check.is_some() || words.domain.is_some();
        let (name, scheme) = if is_web {
            ("url", "http://")
        } else {
            ("address", "")
        };
        let place = format!("{scheme}{{{{ address }}}}:{{{{ port }}}}");
        self.outputs.push((name.to_owned(), text(place)));
    }

    fn variables(&mut self, env: &[(String, String)], secrets: &[Secret]) {
        let mut written = Vec::new();
        for (variable, value) in env {
            let option = self.free(variable);
            let help = text(format!("Variable {variable}"));
            self.option(&option, vec![("help", help)]);
            self.options.insert(option.clone(), value.as_str().into());
            written.push((variable.clone(), expression(&option)));
        }
        if !written.is_empty() {
            self.set("env", Value::map(written));
        }
        let mut written = Vec::new();
        for Secret { variable, given } in secrets {
            let of_file = variable.strip_suffix("_FILE").filter(|name| !name.is_empty());
            let option = self.free(of_file.unwrap_or(variable));
            let mut fields = vec![("type", text("secret"))];
            if *given {
                self.options.insert(option.clone(), HIDDEN.into());
                self.given.push(option.clone());
            } else {
                fields.push(("generate", Value::Integer(GENERATE)));
            }
            fields.push(("help", text(format!("Variable {variable}"))));
            self.option(&option, fields);
            let value = match of_file {
                Some(_) => Value::map([("file", text(&option))]),
                None => text(&option),
            };
            written.push((variable.clone(), value));
        }
        if !written.is_empty() {
            self.set("secrets", Value::map(written));
        }
    }

    fn volumes(&mut self, volumes: &[Volume], owner: &str) {
        let mut mounts = Vec::new();
        for Volume { name, size, path } in volumes {
            let option = self.free(&format!("{name}_size"));
            let fields = vec![
                ("type", text("size")),
                ("help", text(format!("Room of volume {name}"))),
            ];
            self.option(&option, fields);
            self.options.insert(option.clone(), size.as_str().into());
            let volume = Value::map([
                ("purpose", text("application")),
                ("size", expression(&option)),
                ("path", text(format!("/opt/{{{{ instance }}}}/{name}"))),
                ("owner", text(owner)),
            ]);
            self.needs.push((name.clone(), Value::map([("volume", volume)])));
            mounts.push((name.clone(), text(path)));
        }
        if !mounts.is_empty() {
            self.set("volumes", Value::map(mounts));
        }
    }

    fn finish(mut self, name: &str, words: &Words, check: Option<Value>) -> Result<Draft, Vec<Diagnostic>> {
        if let Some(check) = check {
            self.set("check", check);
        }
        if self.specs.iter().any(|(option, _)| option == "domain") {
            let route = Value::map([
                ("host", expression("domain")),
                ("service", text(name)),
                ("when", expression("domain")),
            ]);
            let need = if self.taken.contains("route") {
                "front"
            } else {
                "route"
            };
            self.needs.push((need.to_owned(), Value::map([("route", route)])));
        }
        let (summary, risk) = match &words.image {
            Some(image) => (format!("A container of {}", image.short()), "medium"),
            None => {
                let program = words.program.first().map_or("", String::as_str);
                (format!("The program {program}"), "high")
            }
        };
        let mut recipe = vec![
            ("recipe", text(name)),
            ("summary", literal(&summary)),
            ("version", text("1")),
            ("risk", text(risk)),
        ];
        let parts = [("options", self.specs), ("needs", self.needs)];
        recipe.extend(
            parts
                .into_iter()
                .filter(|(_, part)| !part.is_empty())
                .map(|(key, part)| (key, Value::map(part))),
        );
        recipe.push(("services", Value::map([(name, Value::map(self.service))])));
        if !self.outputs.is_empty() {
            recipe.push(("outputs", Value::map(self.outputs)));
        }
        let recipe = yaml::print(&Value::map(recipe)).map_err(|found| vec![found])?;
        // What the words still have wrong, such as a name that no engine takes, the reader of recipes knows.
        Recipe::parse("the container", recipe.as_bytes())?;
        Ok(Draft {
            recipe,
            options: self.options,
            given: self.given,
        })
    }
}

/// The text of a recipe under another name, with these values of a component as its defaults. What has no place there, such as
/// a figure of one of several services, is named.
pub fn with_values(
    recipe: &Recipe,
    name: &str,
    values: &BTreeMap<String, serde_json::Value>,
) -> Result<(String, Vec<String>), Vec<Diagnostic>> {
    const FIRST: &str = "#!yaml\n";
    let text = String::from_utf8_lossy(&recipe.text);
    let mut edited = format!("{FIRST}{text}");
    let mut left = Vec::new();
    let mut set = |path: &[&str], value: &Value| -> Result<(), Vec<Diagnostic>> {
        edited = splice::set(&recipe.file, &edited, path, value).map_err(|found| vec![found])?;
        Ok(())
    };
    set(&["recipe"], &self::text(name))?;
    for (option, value) in values {
        let spec = recipe.option(option);
        match spec.map(|spec| &spec.kind) {
            // Nobody finds a secret in a recipe. A generated one is another each time, one that a person gives is asked for.
            Some(OptionType::Secret) => {}
            Some(OptionType::Component) => left.push(option.clone()),
            Some(_) => set(&["options", option, "default"], &default_of(value))?,
            None => match &recipe.services[..] {
                [service] if is_figure(option) => {
                    let number = value.as_i64().unwrap_or_default();
                    set(&["services", &service.name, option], &everywhere(number))?;
                }
                _ => left.push(option.clone()),
            },
        }
    }
    let text = edited.strip_prefix(FIRST).unwrap_or(&edited).to_owned();
    Recipe::parse(&recipe.file, text.as_bytes())?;
    Ok((text, left))
}

fn default_of(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::Bool(*flag),
        serde_json::Value::Number(number) => Value::Integer(number.as_i64().unwrap_or_default()),
        serde_json::Value::String(text) => literal(text),
        serde_json::Value::Array(items) => Value::list(items.iter().map(default_of)),
        // No option has a map.
        serde_json::Value::Object(_) => Value::Null,
    }
}

fn text(text: impl Into<String>) -> Value {
    Value::String(text.into())
}

/// A text that a template leaves as it is: a brace that would begin an expression stands in one itself.
fn literal(words: &str) -> Value {
    let mut safe = String::new();
    let mut characters = words.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, characters.peek()) {
            ('{', Some('{' | '%' | '#')) => safe.push_str("{{ '{' }}"),
            _ => safe.push(character),
        }
    }
    text(safe)
}

fn expression(option: &str) -> Value {
    text(format!("{{{{ {option} }}}}"))
}

/// A figure that is the same in every environment.
fn everywhere(number: i64) -> Value {
    Value::map(
        ENVIRONMENTS
            .iter()
            .map(|environment| (*environment, Value::Integer(number))),
    )
}

fn each<T>(words: &[String], found: &mut Vec<Diagnostic>, read: fn(&str) -> Result<T, Diagnostic>) -> Vec<T> {
    let results = words.iter().map(|word| read(word));
    let read: Vec<_> = results
        .filter_map(|result| result.map_err(|wrong| found.push(wrong)).ok())
        .collect();
    read
}

fn twice<'a>(what: &str, names: impl Iterator<Item = &'a String>, found: &mut Vec<Diagnostic>) {
    let mut seen = BTreeSet::new();
    for name in names.filter(|name| !seen.insert(*name)) {
        found.push(Diagnostic::new(format!("{what} {name} is given twice")).hint("Give it once"));
    }
}

fn ports(words: &Words, found: &mut Vec<Diagnostic>) -> Vec<Port> {
    let mut ports = Vec::new();
    for said in &words.ports {
        match port(said) {
            Some(port) => ports.push(port),
            None => found.push(
                Diagnostic::new(format!("Port {} is no port between 1 and 65535", quoted(said))).hint(
                    "Give --port 8080 for one of the container, --port 80:8080 to name that of the host as well, \
                     --port 53/udp for datagrams",
                ),
            ),
        }
    }
    // A check asks the first port.
    ports.sort_by_key(|port| port.udp);
    if let Some(first) = ports.first_mut() {
        first.label = MAIN.to_owned();
    }
    let labels: Vec<_> = ports.iter().map(|port| port.label.clone()).collect();
    twice("Port", labels.iter(), found);
    ports
}

fn port(said: &str) -> Option<Port> {
    let (said, udp) = match said.split_once('/') {
        Some((said, "udp")) => (said, true),
        Some((said, "tcp")) => (said, false),
        Some(_) => return None,
        None => (said, false),
    };
    let number = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
    let (fixed, to) = match said.split_once(':') {
        Some((fixed, to)) => (Some(number(fixed)?), number(to)?),
        None => (None, number(said)?),
    };
    let of = if udp { "udp_" } else { "" };
    Some(Port {
        label: format!("port_{of}{to}"),
        to,
        fixed,
        udp,
    })
}

fn volume(said: &str) -> Result<Volume, Diagnostic> {
    let like = "Give it as NAME:SIZE:/path, such as --volume data:5G:/data";
    let wrong = |why: String| Err(Diagnostic::new(format!("Volume {}: {why}", quoted(said))).hint(like));
    let first = said.split(':').next().unwrap_or_default();
    if first.is_empty() || first.contains(['/', '.', '~', '$']) {
        let why = "a path of the host is no volume, because Eos could neither size it, find it on another host nor roll it back";
        return wrong(why.to_owned());
    }
    let parts: Vec<_> = said.split(':').collect();
    let [name, size, path] = parts[..] else {
        return wrong("it has not a name, a size and a path".to_owned());
    };
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(fits) || name.len() > 40 {
        return wrong("its name has lower-case letters, digits and underscores, a letter first".to_owned());
    }
    let size = match OptionType::Size.from_words(size) {
        Ok(size) => size.as_str().unwrap_or_default().to_owned(),
        Err(why) => return wrong(why),
    };
    if !is_absolute(path) {
        return wrong(format!(
            "{} is not an absolute path in the container",
            quoted(path)
        ));
    }
    Ok(Volume {
        name: name.to_owned(),
        size,
        path: path.to_owned(),
    })
}

/// No message shows the value: it may be the very secret that stands in the wrong place.
fn variable(said: &str) -> Result<(String, String), Diagnostic> {
    let Some((name, value)) = said.split_once('=') else {
        let words = format!("Variable {} has no value", quoted(said));
        return Err(Diagnostic::new(words).hint("Give it as --env NAME=VALUE"));
    };
    check_name(name)?;
    if looks_secret(name, value) {
        let words = format!("Variable {name} looks like a secret, and the pillar would show it to everybody");
        let hint =
            format!("--secret {name} has Eos make one; --secret {name}=- reads it from standard input");
        return Err(Diagnostic::new(words).hint(hint));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// No message shows what stands behind the name.
fn secret(said: &str) -> Result<Secret, Diagnostic> {
    let (name, given) = match said.split_once('=') {
        None => (said, false),
        Some((name, "-")) => (name, true),
        Some((name, _)) => {
            check_name(name)?;
            let words =
                format!("The value of secret {name} stands on the command line, where everybody can read it");
            return Err(Diagnostic::new(words).hint(format!(
                "--secret {name}=- reads it from standard input; --secret {name} has Eos make one"
            )));
        }
    };
    check_name(name)?;
    Ok(Secret {
        variable: name.to_owned(),
        given,
    })
}

fn check_name(name: &str) -> Result<(), Diagnostic> {
    let fits = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 40
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match fits {
        true => Ok(()),
        false => Err(
            Diagnostic::new(format!("{} is not the name of a variable", quoted(name)))
                .hint("Use up to 40 letters, digits and underscores, no digit first"),
        ),
    }
}

/// Whether a variable seems to hold what nobody may read: by a word of its name, or by its value.
pub fn looks_secret(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let words: Vec<_> = lower.split('_').collect();
    let is_public = words.contains(&"public");
    let holds_path = words.last().is_some_and(|last| PATH_WORDS.contains(last)) && value.starts_with('/');
    let by_name = words.iter().any(|word| SECRET_WORDS.contains(word)) && !is_public && !holds_path;
    let with_password = value.split_once("://").is_some_and(|(_, rest)| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        user.split_once(':')
            .is_some_and(|(_, password)| !password.is_empty())
    });
    by_name || with_password || value.contains("PRIVATE KEY-----")
}

fn figures(words: &Words, one: bool, found: &mut Vec<Diagnostic>) -> Options {
    let mut figures = Options::new();
    for (name, said) in &words.figures {
        if one && name == "replicas" {
            let words = "A container with a volume runs once: its volume has one writer";
            found.push(Diagnostic::new(words).hint("Leave --replicas out, or the volume"));
            continue;
        }
        let mebibytes = match name.as_str() {
            "memory" if said.ends_with(|c: char| c.is_ascii_alphabetic()) => {
                option::bytes(said).ok().map(|bytes| (bytes >> 20).to_string())
            }
            _ => None,
        };
        let said = mebibytes.unwrap_or_else(|| said.clone());
        match OptionType::Integer.from_words(&said) {
            Ok(number) => drop(figures.insert(name.clone(), number)),
            Err(why) => found.push(
                Diagnostic::new(format!("Option {name}: {why}"))
                    .hint(format!("Give --{} a number, such as 256", flag(name))),
            ),
        }
    }
    figures
}

/// Who owns the volumes: who runs.
fn owner(user: Option<&str>, has_volume: bool, found: &mut Vec<Diagnostic>) -> String {
    let Some(user) = user.filter(|_| has_volume) else {
        return "root:root".to_owned();
    };
    let is_number =
        |text: &str| !text.is_empty() && text.len() < 10 && text.chars().all(|c| c.is_ascii_digit());
    let (of, group) = user.split_once(':').unwrap_or((user, user));
    if !is_number(of) || !is_number(group) {
        let words = format!(
            "User {} cannot own a volume: hosts do not know the names of an image",
            quoted(user)
        );
        found.push(Diagnostic::new(words).hint("Give it as numbers, such as --user 1000:1000"));
    }
    format!("{of}:{group}")
}

fn check(words: &Words, first: Option<&Port>, found: &mut Vec<Diagnostic>) -> Option<Value> {
    let tcp = first.filter(|port| !port.udp);
    match (&words.check, tcp) {
        (None, tcp) => tcp.map(|_| Value::map([("tcp", Value::Bool(true))])),
        (Some(path), Some(_)) if path.starts_with('/') => Some(Value::map([("http", literal(path))])),
        (Some(path), Some(_)) => {
            let words = format!("Check {} is no path of a page", quoted(path));
            found.push(Diagnostic::new(words).hint("Give it as --check /health"));
            None
        }
        (Some(_), None) => {
            let words = "A check needs a port that it asks";
            found.push(Diagnostic::new(words).hint("Add --port, such as --port 8080"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::lint;
    use serde_json::json;

    const DIGEST: &str = "sha256:0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";

    fn words() -> Words {
        Words {
            image: Some(format!("example/shop:2@{DIGEST}").parse().unwrap()),
            ..Words::default()
        }
    }

    fn all(items: &[&str]) -> Vec<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    fn drafted(words: &Words) -> Draft {
        let taken = BTreeSet::from(["name".to_owned()]);
        Draft::read("shop", words, &taken).unwrap_or_else(|found| panic!("{found:#?}"))
    }

    fn refused(words: &Words) -> String {
        let found = Draft::read("shop", words, &BTreeSet::new()).unwrap_err();
        found
            .iter()
            .map(|one| format!("{} | {}\n", one.message, one.hint.clone().unwrap_or_default()))
            .collect()
    }

    #[test]
    fn every_word_of_a_person_is_in_the_recipe_and_lint_finds_nothing() {
        let words = Words {
            args: all(&["serve", "--as", "{{ x }}{%"]),
            ports: all(&["80:8080", "9000", "53/udp"]),
            env: all(&["LOG_LEVEL=debug", "NAME=x y", "PORT=8080", "_X="]),
            secrets: all(&["API_TOKEN", "DB_PASSWORD_FILE=-"]),
            volumes: all(&["data:5g:/data"]),
            check: Some("/up".to_owned()),
            user: Some("1000".to_owned()),
            domain: Some("shop.example.org".to_owned()),
            figures: BTreeMap::from([("memory".to_owned(), "1G".to_owned())]),
            ..words()
        };
        let draft = drafted(&words);
        assert_eq!(draft.given, ["db_password"]);
        let expected = json!({
            "image": format!("example/shop:2@{DIGEST}"), "port": 80, "domain": "shop.example.org",
            "log_level": "debug", "name_value": "x y", "port_value": "8080", "x": "", "db_password": HIDDEN,
            "data_size": "5G", "memory": 1024,
        });
        assert_eq!(json!(draft.options), expected);
        let recipe = Recipe::parse("recipes/shop/recipe.yaml", draft.recipe.as_bytes()).unwrap();
        assert_eq!(recipe.volumes[0].owner, "1000:1000");
        let catalog = Catalog::load(&[(
            "recipes/shop/recipe.yaml".to_owned(),
            draft.recipe.clone().into_bytes(),
        )]);
        let catalog = catalog.unwrap_or_else(|found| panic!("{found:#?}\n{}", draft.recipe));
        assert!(
            lint::warnings(&recipe).is_empty(),
            "{:#?}",
            lint::warnings(&recipe)
        );
        assert!(
            lint::trial(&recipe, &catalog).is_empty(),
            "{:#?}",
            lint::trial(&recipe, &catalog)
        );
        assert!(
            draft.recipe.contains("{{ '{' }}{ x }}{{ '{' }}%"),
            "{}",
            draft.recipe
        );
    }

    #[test]
    fn values_become_defaults_and_secrets_do_not() {
        let words = Words {
            ports: all(&["80:8080"]),
            env: all(&["GREETING={{ hello }}"]),
            secrets: all(&["API_TOKEN", "KEY=-"]),
            volumes: all(&["data:5G:/data"]),
            figures: BTreeMap::from([("memory".to_owned(), "64".to_owned())]),
            ..words()
        };
        let draft = drafted(&words);
        let recipe = Recipe::parse("kept", draft.recipe.as_bytes()).unwrap();
        let (text, left) = with_values(&recipe, "store", &draft.options).unwrap();
        assert!(left.is_empty(), "{left:?}");
        let again = Recipe::parse("recipes/store/recipe.yaml", text.as_bytes()).unwrap();
        assert_eq!(again.name, "store");
        let default = |name: &str| {
            let default = again.option(name).unwrap().default.clone();
            default.map(|default| default.evaluate(&serde_json::Map::new()).unwrap())
        };
        assert_eq!(default("greeting"), Some(json!("{{ hello }}")));
        assert_eq!(default("port"), Some(json!(80)));
        assert_eq!(default("key"), None);
        let memory: Vec<_> = again.services[0]
            .memory
            .of
            .iter()
            .map(|(_, number, _)| *number)
            .collect();
        assert_eq!(memory, [64, 64, 64]);
        assert!(!text.contains(HIDDEN), "{text}");
    }

    #[test]
    fn a_path_of_the_host_is_no_volume() {
        for said in [
            "/srv/x:/data",
            "./x:5G:/data",
            "~/x:/data",
            "$HOME:1G:/data",
            ":5G:/data",
        ] {
            let told = refused(&Words {
                volumes: all(&[said]),
                ..words()
            });
            assert!(
                told.contains("path of the host") && told.contains("NAME:SIZE:/path"),
                "{told}"
            );
        }
        for said in [
            "data",
            "data:/data",
            "data:5X:/data",
            "data:5G:data",
            "Da:5G:/data",
            "data:5G:/data:ro",
        ] {
            let told = refused(&Words {
                volumes: all(&[said]),
                ..words()
            });
            assert!(told.contains("NAME:SIZE:/path"), "{said}: {told}");
        }
    }

    #[test]
    fn what_looks_like_a_secret_is_none_for_the_pillar() {
        for said in [
            "DB_PASSWORD=canary",
            "token=canary",
            "AWS_SECRET_ACCESS_KEY=canary",
            "DATABASE_URL=postgres://ada:canary@db/x",
            "PEM=-----BEGIN PRIVATE KEY-----canary",
            "MYSQL_PWD=canary",
            "DB_PASSWORD_FILE=canary",
        ] {
            let told = refused(&Words {
                env: all(&[said]),
                ..words()
            });
            let name = said.split('=').next().unwrap();
            assert!(
                told.contains(&format!("--secret {name}")) && !told.contains("canary"),
                "{told}"
            );
        }
        for said in [
            "KEYBOARD=us",
            "TOKENIZER=x",
            "PUBLIC_KEY=abc",
            "URL=http://db/x:y@z",
            "MONKEY=1",
            "TLS_KEY_FILE=/data/key.pem",
            "URL=http://ada@db/",
        ] {
            drafted(&Words {
                env: all(&[said]),
                ..words()
            });
        }
        let told = refused(&Words {
            secrets: all(&["TOKEN=canary"]),
            ..words()
        });
        assert!(
            told.contains("--secret TOKEN=-") && !told.contains("canary"),
            "{told}"
        );
    }

    #[test]
    fn each_fault_is_named_at_once() {
        let told = refused(&Words {
            ports: all(&["0", "http", "8080:99999", "1/x"]),
            env: all(&["A=1", "A=2", "B", "9=x"]),
            check: Some("up".to_owned()),
            domain: Some("x.example".to_owned()),
            user: Some("ada".to_owned()),
            volumes: all(&["data:5G:/data"]),
            figures: BTreeMap::from([
                ("replicas".to_owned(), "2".to_owned()),
                ("cpu".to_owned(), "x".to_owned()),
            ]),
            ..words()
        });
        assert_eq!(told.lines().count(), 12, "{told}");
    }
}
