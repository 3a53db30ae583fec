//! The kinds of files that have a colour, by extension.

use crate::measure::{Kind, Mode};

/// The kinds. The last is of directories without anything of their own in the map.
pub(super) const KINDS: [&str; 9] = [
    "program",
    "source",
    "document",
    "picture, font",
    "sound, video",
    "archive, image",
    "data, log",
    "other",
    "smaller entries",
];
/// The extensions of files of the first kinds, in lower case.
const ENDINGS: [&str; KINDS.len() - 2] = [
    "a apk app class com dll dylib efi elf exe hsaco jmod ko lib mo node o obj pdb pyc pyd pyo rlib rmeta so sys wasm",
    "asm awk bash bat c cc cfg cjs clj cmake conf cpp cs css cu cxx d dart diff el erl ex exs f f90 fish go gradle groovy \
     h hh hpp hrl hs htm html hxx ini ipynb java jl js json json5 jsonc jsx kt less lisp lock lua m m4 mak mjs mk ml mm nim \
     nix patch php pl pm po pot proto ps1 pxd py pyi pyx qml r rb rs s sass scala scss sh sql svelte swift tcl template tf \
     toml ts tsx v vb vhd vim vue xml xsd xsl yaml yml zig zsh",
    "adoc chm djvu doc docx dvi eml epub info man markdown mbox md mobi odp ods odt org pdf ppt pptx ps rst rtf tex txt xls \
     xlsx",
    "ai avif blend bmp cr2 dng eps gif glb gltf heic icns ico jpeg jpg jxl nef otf pfb png psd svg tga tif tiff ttc ttf webp \
     woff woff2 xcf",
    "3gp aac aif aiff avi flac m2ts m4a m4v mid mka mkv mov mp3 mp4 mpeg mpg mts oga ogg ogv opus sf2 srt vob wav webm wma \
     wmv",
    "7z br bz2 cab cpio crate deb dmg egg gem gz img iso jar lz4 lzma nupkg ova pack pkg qcow2 rar rpm snap squashfs tar tbz \
     tgz txz vdi vmdk vsix war whl wim xpi xz z zip zst",
    "arrow avro bin ckpt csv dat data db db3 dump feather gguf h5 hdf5 idx index journal jsonl ldb log mdb ndjson npy npz \
     onnx orc pak parquet pb pickle pkl pt pth rdb safetensors sqlite sqlite3 sst tsv wal",
];
const PROGRAM: usize = 0;
const OTHER: usize = KINDS.len() - 2;
pub(super) const DIRECTORY: usize = KINDS.len() - 1;

/// Which of [`KINDS`] it is. Without a known extension, what may be executed is a program.
pub(super) fn kind(path: &[u8], mode: Mode) -> usize {
    match mode.kind() {
        Kind::Directory => return DIRECTORY,
        Kind::File => {}
        Kind::Symlink | Kind::Other => return OTHER,
    }
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let ending = ending(name).unwrap_or_default();
    let known = ENDINGS.iter().position(|endings| {
        endings.split(' ').any(|one| ending.eq_ignore_ascii_case(one.as_bytes()))
    });
    known.unwrap_or(if mode.0 & 0o111 == 0 { OTHER } else { PROGRAM })
}

/// The last part of `name` after a dot that is not a number: `so` of `libc.so.6`.
fn ending(name: &[u8]) -> Option<&[u8]> {
    let dot = name.iter().position(|byte| *byte == b'.')?;
    let mut parts = name[dot + 1..].rsplit(|byte| *byte == b'.');
    parts.find(|part| !part.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn files_are_of_the_kind_that_their_extension_says() {
        let [file, program] = [0o100_644, 0o100_755].map(Mode);
        for (name, mode, expected) in [
            ("a.rs", file, "source"),
            ("a.RS", file, "source"),
            ("a.rs", program, "source"),
            ("a", program, "program"),
            ("a", file, "other"),
            ("rs", file, "other"),
            ("libc.so.6", file, "program"),
            ("libLLVM.so.22.1", file, "program"),
            ("1.2.3", file, "other"),
            ("a.", file, "other"),
            ("", file, "other"),
            ("a.rs/b", file, "other"),
            ("a/b.tar.gz", file, "archive, image"),
            ("a.rs", Mode::DIRECTORY, "smaller entries"),
            ("a.rs", Mode::usual(Kind::Symlink), "other"),
        ] {
            assert_eq!(KINDS[kind(name.as_bytes(), mode)], expected, "{name}");
        }
    }

    #[test]
    fn an_extension_is_of_one_kind() {
        let all: Vec<_> = ENDINGS.iter().flat_map(|endings| endings.split(' ')).collect();
        let mut seen = HashSet::new();
        let twice: Vec<_> = all.iter().filter(|ending| !seen.insert(**ending)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
