//! Git's configuration from the system, the user and the environment (git-config(1)). The walk reads that of each
//! repository.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use super::HOME;
use weigh::internal::base::escape::harmless;
use weigh::internal::fs::git::{BadFile, GitConfig, Text, truth};
use weigh::internal::sys;
use weigh::internal::sys::problem::reason;

/// Reads the configuration.
///
/// # Errors
/// One line that says what is wrong, if git refuses it, too.
pub(super) fn config() -> Result<GitConfig, String> {
    let home = not_empty(HOME);
    let own = not_empty("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let own = own.map(|own| own.join("git"));
    let no_system = env::var_os("GIT_CONFIG_NOSYSTEM").unwrap_or_default().into_encoded_bytes();
    let system = match truth(Some(&no_system)) {
        Some(true) => None,
        Some(false) => env::var_os("GIT_CONFIG_SYSTEM").or_else(|| Some("/etc/gitconfig".into())),
        None => return Err("GIT_CONFIG_NOSYSTEM is neither true nor false".to_owned()),
    };
    let users = match env::var_os("GIT_CONFIG_GLOBAL") {
        Some(file) => [Some(file.into()), None],
        None => [
            own.as_ref().map(|own| own.join("config")),
            home.as_ref().map(|home| home.join(".gitconfig")),
        ],
    };
    let mut config = GitConfig::new(home.map(bytes), own.map(|own| bytes(own.join("ignore"))));
    for file in [system.map(PathBuf::from)].into_iter().chain(users).flatten() {
        config.read(&bytes(file), &text_of).map_err(blame)?;
    }
    for number in 0..count()? {
        let (key, value) = (counted("KEY", number)?, counted("VALUE", number)?);
        config.overrule(&key, &value, &text_of).map_err(blame)?;
    }
    Ok(config.with_excludes(&text_of))
}

/// The content of a file of the user's or the system's. Like git, weigh skips one that cannot be read; and a pipe, which
/// would block.
fn text_of(path: &[u8]) -> Text {
    let path = sys::to_path(path);
    Ok(if sys::is_special_file(&path) { None } else { sys::read_file(&path).ok() })
}

fn count() -> Result<u32, String> {
    let count = env::var_os("GIT_CONFIG_COUNT").filter(|count| !count.is_empty());
    let Some(count) = count else { return Ok(0) };
    let number = count.to_str().and_then(|count| count.trim_ascii_start().parse().ok());
    number.ok_or_else(|| "GIT_CONFIG_COUNT is not a number".to_owned())
}

fn counted(what: &str, number: u32) -> Result<Vec<u8>, String> {
    let name = format!("GIT_CONFIG_{what}_{number}");
    let value = env::var_os(&name).map(OsString::into_encoded_bytes);
    value.ok_or(format!("GIT_CONFIG_COUNT is more than {number}, but {name} is not set"))
}

fn bytes(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_encoded_bytes()
}

fn blame((file, error): BadFile) -> String {
    format!("cannot read git's file '{}': {}", harmless(&file), reason(&error))
}

fn not_empty(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
