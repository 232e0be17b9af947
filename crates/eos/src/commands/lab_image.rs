//! `eos lab image` and `eos lab images`: images from programs of this machine, and those of the built-in recipes.

use super::Session;
use super::lab::unless_interrupted;
use crate::problem::Problem;
use eos_core::catalog::Catalog;
use eos_core::compile::lower;
use eos_core::lowered::{Check, Driver, Group, Lowered};
use eos_core::pillar::{COMMON_FILE, Pillar, environment_file};
use eos_core::profile::Profile;
use eos_core::recipe::Recipe;
use eos_core::runtime::{Piece, RuntimeText};
use eos_lab::{ImageInput, Lab, RecipeImage, StandIn};
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  eos lab image tools/busybox:1 busybox --cmd sleep --cmd 60
  eos lab image team/site:2 caddy --directory /srv/site --user 1000:1000")]
pub struct Args {
    /// Name of the image, for use in jobs
    #[arg(value_name = "NAME[:TAG]")]
    name: String,
    /// Programs to pack, by path or as found on PATH
    #[arg(value_name = "PROGRAM", required = true)]
    programs: Vec<String>,
    /// File to pack, at its own place
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Directory to pack with its content, at its own place
    #[arg(long, value_name = "PATH")]
    directory: Vec<PathBuf>,
    /// Word of the entry command, in place of the first program
    #[arg(long, value_name = "WORD")]
    entrypoint: Vec<String>,
    /// Word of the default arguments
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    cmd: Vec<String>,
    /// Environment variable
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// User the image runs as, in numbers
    #[arg(long, value_name = "USER[:GROUP]")]
    user: Option<String>,
}

pub async fn run(session: &mut Session<'_>, lab: &Lab, args: Args) -> Result<(), Problem> {
    let input = ImageInput {
        name: args.name,
        programs: args.programs,
        files: args.file,
        directories: args.directory,
        entrypoint: args.entrypoint,
        command: args.cmd,
        environment: args.env,
        user: args.user,
    };
    let progress = session.view.lab_progress();
    let packed = unless_interrupted(lab.pack_image(&input, progress.as_ref())).await?;
    session.view.show(&packed);
    Ok(())
}

/// Makes the images of all built-in recipes. An estate's own recipes run what they name.
pub async fn make_all(session: &mut Session<'_>, lab: &Lab) -> Result<(), Problem> {
    let images = of_catalog(&Catalog::load(&[])?)?;
    let progress = session.view.lab_progress();
    unless_interrupted(lab.make_images(&images, progress.as_ref())).await
}

/// The images that the recipes of a catalog run with nothing set, and what each recipe gives its image.
fn of_catalog(catalog: &Catalog) -> Result<Vec<RecipeImage>, Problem> {
    let mut images = BTreeMap::new();
    for recipe in catalog.iter() {
        for component in lowered(recipe, catalog)?.values() {
            for group in &component.groups {
                if let Driver::Docker { image, .. } = &group.driver {
                    images.insert(image.value.clone(), image_of(component, group, &image.value));
                }
            }
        }
    }
    Ok(images.into_values().collect())
}

/// A component of the recipe, and what that uses, on an estate that has room for it.
fn lowered(recipe: &Recipe, catalog: &Catalog) -> Result<BTreeMap<(String, String), Lowered>, Problem> {
    let client = "{address: 127.0.0.1, roles: [client]}";
    let hosts =
        format!("{{one: {{address: 127.0.0.1, roles: [client, control]}}, two: {client}, three: {client}}}");
    let files = BTreeMap::from([
        (
            COMMON_FILE.to_owned(),
            format!("#!yaml\nhosts: {hosts}\n").into_bytes(),
        ),
        (
            environment_file("production"),
            format!("#!yaml\ncomponents: {{{0}: {{recipe: {0}}}}}\n", recipe.name).into_bytes(),
        ),
    ]);
    let (components, found) = lower(&Pillar::read(&files)?, catalog, Profile::Solo);
    match found.is_empty() {
        true => Ok(components),
        false => Err(Problem::Usage(found)),
    }
}

fn image_of(component: &Lowered, group: &Group, name: &str) -> RecipeImage {
    let volumes = group.mounts.iter().filter_map(|mount| {
        let mut volumes = component.volumes.iter();
        volumes.find(|volume| volume.need == mount.volume)
    });
    let owner = volumes
        .map(|volume| format!("{}:{}", volume.user, volume.group))
        .find(|owner| owner.chars().all(|c| c.is_ascii_digit() || c == ':'));
    let port = group.ports.first().and_then(|port| port.to.as_ref());
    let (files, variables): (Vec<_>, Vec<_>) = group.secrets.iter().partition(|secret| secret.file.is_some());
    let names = |secrets: Vec<&eos_core::lowered::SecretUse>| {
        secrets
            .into_iter()
            .map(|secret| secret.variable.clone())
            .collect()
    };
    let texts = group.env.iter().map(|(name, text)| (name, &text.value));
    let secret_texts = variables
        .iter()
        .map(|secret| (&secret.variable, &secret.text.value));
    let addresses = texts
        .chain(secret_texts)
        .filter(|(_, text)| has_address(text))
        .map(|(name, _)| name.clone())
        .collect();
    RecipeImage {
        name: name.to_owned(),
        user: owner,
        stand_in: StandIn {
            port: port.map_or(8080, |port| port.value),
            health: match &group.check {
                Some(Check::Http(path)) => path.value.clone(),
                Some(Check::Tcp { .. }) | None => "/health".to_owned(),
            },
            variables: names(variables),
            files: names(files),
            addresses,
            directories: group
                .mounts
                .iter()
                .map(|mount| mount.path.value.clone())
                .collect(),
        },
    }
}

fn has_address(text: &RuntimeText) -> bool {
    text.0.iter().any(|piece| matches!(piece, Piece::Address(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_images_of_the_catalog_want_what_their_recipes_give() {
        let images = of_catalog(&Catalog::load(&[]).unwrap()).unwrap();
        let find = |start: &str| images.iter().find(|image| image.name.starts_with(start)).unwrap();
        let grafana = find("grafana/grafana:");
        assert_eq!(grafana.user.as_deref(), Some("472:472"));
        assert_eq!(
            (grafana.stand_in.port, grafana.stand_in.health.as_str()),
            (3000, "/api/health")
        );
        assert_eq!(grafana.stand_in.files, ["GF_SECURITY_ADMIN_PASSWORD__FILE"]);
        assert_eq!(grafana.stand_in.directories, ["/var/lib/grafana"]);
        let mattermost = find("mattermost/");
        assert_eq!(mattermost.stand_in.variables, ["MM_SQLSETTINGS_DATASOURCE"]);
        assert_eq!(mattermost.stand_in.addresses, ["MM_SQLSETTINGS_DATASOURCE"]);
        assert_eq!(find("postgres:").user.as_deref(), Some("999:999"));
        assert_eq!(find("caddy:").user, None);
        let names: Vec<_> = images
            .iter()
            .map(|image| image.name.split(':').next().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "caddy",
                "grafana/grafana",
                "jenkins/jenkins",
                "mattermost/mattermost-team-edition",
                "postgres",
                "prom/alertmanager",
                "prom/prometheus",
                "redis",
            ]
        );
    }
}
