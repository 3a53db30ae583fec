//! Which machine a PATH names, as rsync and scp take it: `host:path`, `user@host:path`, `ssh://user@host:port/path`.

use indexmap::IndexSet;

/// A machine, and the paths to weigh there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// How the names of its roots begin here: `user@host:`, `ssh://user@host:port`, or that with `/~/`.
    pub prefix: Vec<u8>,
    /// What ssh is given: `user@host`.
    pub(super) destination: Vec<u8>,
    /// Its port, if that was given.
    pub(super) port: Option<u16>,
    /// The paths there.
    pub paths: IndexSet<Vec<u8>>,
    /// The first of them, with its machine, as it was typed.
    pub typed: Vec<u8>,
}

impl Host {
    /// The machine and the path there that `path` names, if it names one; or why it cannot be such a name.
    pub fn named(path: &[u8]) -> Option<Result<Self, &'static str>> {
        const SCHEME: &[u8] = b"ssh://";
        // As git takes it: what follows is below the home directory.
        const HOME: &[u8] = b"/~/";
        let (authority, below) = match path.strip_prefix(SCHEME) {
            Some(rest) => {
                let (authority, below) = rest.split_at(position(rest, b'/').unwrap_or(rest.len()));
                (authority, below.strip_prefix(HOME).unwrap_or(below))
            }
            None => {
                let (authority, below) = path.split_at(colon(path)?);
                if below.starts_with(b"://") {
                    return Some(Err(
                        "only ssh:// names a machine; --from reads the list of a bucket",
                    ));
                }
                (authority, &below[1..])
            }
        };
        let is_url = path.starts_with(SCHEME);
        let mut prefix = path[..path.len() - below.len()].to_vec();
        if is_url && below.is_empty() && !prefix.ends_with(HOME) {
            prefix.extend_from_slice(HOME);
        }
        let below = match below {
            // The shell there does not see it, because paths are quoted.
            [b'~'] if !is_url => b"",
            [b'~', b'/', rest @ ..] if !is_url && !rest.starts_with(b"/") => rest,
            below => below,
        };
        let below = match below {
            // Where ssh begins: in the home directory.
            b"" => b".".to_vec(),
            // find would take it for an expression, and weigh for another machine.
            [b'-' | b'(' | b')' | b'!' | b',', ..] => [b"./", below].concat(),
            _ if colon(below).is_some() => [b"./", below].concat(),
            below => below.to_vec(),
        };
        let paths = IndexSet::from([below]);
        let found = destination(authority, is_url);
        let typed = path.to_vec();
        Some(found.map(|(destination, port)| Self { prefix, destination, port, paths, typed }))
    }

    /// The path of its first root, as it is shown here.
    pub fn first(&self) -> Vec<u8> {
        [&*self.prefix, self.paths.first().map_or(b"", |path| path)].concat()
    }

    /// What tells it from other machines.
    pub(super) fn name(&self) -> Vec<u8> {
        match self.port {
            Some(port) => [&*self.destination, format!(":{port}").as_bytes()].concat(),
            None => self.destination.clone(),
        }
    }
}

/// Where in `path` the colon is that ends a host. A path with a slash before it names a file here, as does a drive of
/// Windows.
fn colon(path: &[u8]) -> Option<usize> {
    let host = position(path, b'@').map_or(0, |at| at + 1);
    let is_address = path.get(host) == Some(&b'[');
    let skipped = if is_address { host + position(&path[host..], b']')? } else { 0 };
    let colon = skipped + position(&path[skipped..], b':')?;
    let is_local = path[..colon].iter().any(|byte| std::path::is_separator((*byte).into()));
    let is_drive = cfg!(windows) && colon == 1;
    (!is_local && !is_drive).then_some(colon)
}

/// What ssh is given for an `authority`, and the port.
fn destination(authority: &[u8], has_port: bool) -> Result<(Vec<u8>, Option<u16>), &'static str> {
    let at = authority.iter().rposition(|byte| *byte == b'@');
    let (user, rest) = match at {
        Some(at) => (Some(&authority[..at]), &authority[at + 1..]),
        None => (None, authority),
    };
    let (host, port) = match rest.strip_prefix(b"[") {
        Some(rest) => {
            let end = position(rest, b']').ok_or("the address of its host does not end in ]")?;
            let (host, after) = (&rest[..end], &rest[end + 1..]);
            let port = after.strip_prefix(b":");
            if port.is_none() && !after.is_empty() {
                return Err("its host has something after ]");
            }
            (host, port)
        }
        None if has_port => {
            let mut parts = rest.splitn(2, |byte| *byte == b':');
            (parts.next().unwrap_or_default(), parts.next())
        }
        None => (rest, None),
    };
    let number = |port: &[u8]| str::from_utf8(port).ok()?.parse().ok().filter(|port| *port > 0);
    let port =
        port.map(|port| number(port).ok_or("its port is no number from 1 to 65535")).transpose()?;
    match (user, host) {
        (Some([]), _) => return Err("its user is empty"),
        (Some([b'-', ..]), _) => return Err("its user begins with -"),
        (_, []) => return Err("its host is empty"),
        (_, [b'-', ..]) => return Err("its host begins with -"),
        _ if authority.iter().any(u8::is_ascii_control) => {
            return Err("its host has a control character");
        }
        _ => {}
    }
    let user = user.map(|user| [user, b"@"].concat()).unwrap_or_default();
    Ok(([&*user, host].concat(), port))
}

fn position(bytes: &[u8], wanted: u8) -> Option<usize> {
    bytes.iter().position(|byte| *byte == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `destination port prefix path`, or why not.
    fn named(path: &str) -> Option<String> {
        Host::named(path.as_bytes()).map(|host| match host {
            Err(why) => why.to_owned(),
            Ok(Host { prefix, destination, port, paths, .. }) => {
                let [prefix, destination, path] = [&prefix, &destination, &paths[0]]
                    .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                format!("{destination} {} {prefix} {path}", port.unwrap_or(0))
            }
        })
    }

    #[test]
    fn names_are_taken_as_rsync_takes_them() {
        for (path, expected) in [
            ("/srv", None),
            ("srv", None),
            ("./a:b", None),
            ("a/b:c", None),
            ("web:/srv", Some("web 0 web: /srv")),
            ("web:srv/a:b", Some("web 0 web: srv/a:b")),
            ("web:", Some("web 0 web: .")),
            ("web:~", Some("web 0 web: .")),
            ("web:~/", Some("web 0 web: .")),
            ("web:~/srv/~", Some("web 0 web: srv/~")),
            ("web:~/-x", Some("web 0 web: ./-x")),
            ("web:~ann/srv", Some("web 0 web: ~ann/srv")),
            ("web:-delete", Some("web 0 web: ./-delete")),
            ("web:a:b", Some("web 0 web: ./a:b")),
            ("ann@web:/", Some("ann@web 0 ann@web: /")),
            ("ann@[::1]:/srv", Some("ann@::1 0 ann@[::1]: /srv")),
            ("[::1]:srv", Some("::1 0 [::1]: srv")),
            ("ssh://web/srv", Some("web 0 ssh://web /srv")),
            ("ssh://ann@web:2222/srv", Some("ann@web 2222 ssh://ann@web:2222 /srv")),
            ("ssh://[::1]:22/", Some("::1 22 ssh://[::1]:22 /")),
            ("ssh://[::1]2222/x", Some("its host has something after ]")),
            ("[::1]junk:/x", Some("its host has something after ]")),
            ("ssh://web", Some("web 0 ssh://web/~/ .")),
            ("ssh://web/~/", Some("web 0 ssh://web/~/ .")),
            ("ssh://web/~/a/~/b", Some("web 0 ssh://web/~/ a/~/b")),
            ("ssh://web/~/~/a", Some("web 0 ssh://web/~/ ~/a")),
            ("ssh://web/~a", Some("web 0 ssh://web /~a")),
            ("ssh://web:0/", Some("its port is no number from 1 to 65535")),
            ("ssh://web:x/", Some("its port is no number from 1 to 65535")),
            (":/srv", Some("its host is empty")),
            ("@web:/srv", Some("its user is empty")),
            ("ann@:/srv", Some("its host is empty")),
            ("ssh:///srv", Some("its host is empty")),
            (
                "s3://bucket/x",
                Some("only ssh:// names a machine; --from reads the list of a bucket"),
            ),
            ("-oProxyCommand=touch x:/", Some("its host begins with -")),
            ("-l@web:/", Some("its user begins with -")),
            ("ann@-web:/", Some("its host begins with -")),
            ("we\nb:/", Some("its host has a control character")),
        ] {
            assert_eq!(named(path).as_deref(), expected, "{path}");
        }
    }
}
