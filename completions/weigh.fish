function __weigh_is -d 'Whether the command is one of these'
    set -l words (commandline -opc)
    set -l command tree
    contains -- "$words[2]" ui clean diff history df watch help completions; and set command $words[2]
    contains -- $command $argv
end

function __weigh_is_first -d 'Whether the first word is typed'
    test (count (commandline -opc)) = 1
end

function __weigh_times -d 'Times to compare with'
    # Only the first word after diff may be one.
    test (count (string match -v -- '-*' (commandline -opc))) -gt 2; and return
    string split ' ' 'last yesterday monday 12h 7d 2w 3mo 1y'
    set -l state $HOME/.local/state
    set -q XDG_STATE_HOME; and set state $XDG_STATE_HOME
    set -l kept $state/weigh/snapshots/*/weigh-*.weigh
    string replace -r '.*/weigh-([^T]*)T.*' '$1' -- $kept | sort -u
end

complete -c weigh -n __weigh_is_first -a ui -d 'Browse; mark, move to the trash with undo, delete'
complete -c weigh -n __weigh_is_first -a clean -d 'Find build output and caches, and remove them'
complete -c weigh -n __weigh_is_first -a diff -d 'Show what grew since the last scan, a time, or a snapshot'
complete -c weigh -n __weigh_is_first -a history -d 'Show growth per day and when the disk is full'
complete -c weigh -n __weigh_is_first -a df -d 'Explain why df reports more than du'
complete -c weigh -n __weigh_is_first -a watch -d 'Show what grows right now, and which process writes it'
complete -c weigh -n __weigh_is_first -a help -d 'Show help for a command; with --man, the man page'
complete -c weigh -n '__weigh_is help' -f -a 'ui clean diff history df watch help completions'
complete -c weigh -n __weigh_is_first -a completions -d 'Print the completions for a shell: bash, elvish, fish, powershell or zsh'
complete -c weigh -n '__weigh_is completions' -f -a 'bash elvish fish powershell zsh'
complete -c weigh -n '__weigh_is diff' -a '(__weigh_times)'
complete -c weigh -n '__weigh_is tree ui diff df' -l rsh -x -d 'Reach other machines with COMMAND instead of ssh'
complete -c weigh -n '__weigh_is tree ui clean diff df' -l files0-from -r -F -d 'Also weigh the PATHs in FILE, each ended by a NUL; - is standard input'
complete -c weigh -n '__weigh_is tree ui clean diff df' -l files-from -r -F -d 'Also weigh the PATHs in FILE, one per line; - is standard input'
complete -c weigh -n '__weigh_is tree ui diff history' -s s -l apparent-size -d 'Count file lengths instead of disk blocks'
complete -c weigh -n '__weigh_is tree ui diff history' -s f -l filecount -d 'Count regular files instead of bytes'
complete -c weigh -n '__weigh_is tree ui diff history' -l inodes -d 'Count inodes of every kind instead of bytes'
complete -c weigh -n '__weigh_is tree' -s m -l filetime -x -a "a
c
m" -d 'Show the newest time in each directory beside its size: a (access), c (change) or m (modification)'
complete -c weigh -n '__weigh_is tree ui diff' -s l -l count-links -d 'Count a file once for each of its hard links'
complete -c weigh -n '__weigh_is tree ui diff' -s L -l dereference-links -d 'Follow symlinks; each directory is still entered once'
complete -c weigh -n '__weigh_is tree ui diff df' -l overlays -d 'Count what overlays show, as du does, and not only their layers'
complete -c weigh -n '__weigh_is tree ui clean diff df watch' -s x -l limit-filesystem -l one-file-system -d 'Stay on the file system of each PATH'
complete -c weigh -n '__weigh_is tree ui clean diff df watch' -l skip -x -a "network
fuse
snap" -d 'Do not enter mounts of these KINDs below PATH: network, fuse, snap'
complete -c weigh -n '__weigh_is tree ui diff df' -s i -l ignore-hidden -d 'Leave out names that begin with a dot'
complete -c weigh -n '__weigh_is tree ui clean diff df' -s X -l ignore-directory -r -F -d 'Leave out entries of exactly this name or path; --exclude and -v take patterns'
complete -c weigh -n '__weigh_is tree ui diff df' -s e -l filter -x -d 'Count only entries whose path matches, as in -e \'\\.png$\''
complete -c weigh -n '__weigh_is tree ui diff df' -s v -l invert-filter -x -d 'Leave out entries if REGEX matches any part of their path, as in -v \'/tmp[0-9]+/\''
complete -c weigh -n '__weigh_is tree ui clean diff df' -l exclude -x -d 'Leave out entries that match, as in .gitignore: \'*.o\', /build, tmp/'
complete -c weigh -n '__weigh_is tree ui diff df' -l include -x -d 'Count only entries that match, and what is in them'
complete -c weigh -n '__weigh_is tree ui clean diff df' -l exclude-from -r -F -d 'Leave out what --exclude would, for each line of FILE'
complete -c weigh -n '__weigh_is tree ui diff df' -l gitignore -d 'Leave out ignored files: by .gitignore, and by .ignore'
complete -c weigh -n '__weigh_is tree ui diff df' -l only-ignored -d 'Count only ignored files; weigh clean lists only what can be made again'
complete -c weigh -n '__weigh_is tree ui diff df' -l exclude-caches -d 'Leave out the content of directories that a CACHEDIR.TAG marks as caches'
complete -c weigh -n '__weigh_is tree ui diff df' -l type -x -a "ada
agda
aidl
alire
amake
asciidoc
asm
asp
ats
avro
awk
bat
batch
bazel
bitbake
boxlang
brotli
buildstream
bzip2
c
c3
cabal
candid
carp
cbor
ceylon
cfml
clojure
cmake
cmd
cml
coffeescript
config
container
coq
cpp
creole
crystal
cs
csharp
cshtml
csproj
css
csv
cuda
cython
d
dart
devicetree
dhall
diff
dita
docker
dockercompose
dts
dvc
ebuild
edn
elisp
elixir
elm
erb
erlang
fennel
fidl
fish
flatbuffers
fortran
fsharp
fut
gap
gdscript
gleam
gn
go
gprbuild
gradle
graphql
groovy
gzip
h
haml
hare
haskell
hbs
hs
html
hurl
hy
idris
janet
java
jinja
jl
js
json
jsonl
julia
jupyter
k
kconfig
kotlin
lean
less
license
lilypond
lisp
llvm
lock
log
lua
lz4
lzma
m4
make
mako
man
markdown
matlab
md
meson
minified
mint
mk
ml
mojo
motoko
msbuild
nim
ninja
nix
objc
objcpp
ocaml
org
pants
pascal
pdf
perl
php
pkgbuild
po
pod
postscript
powershell
prolog
proto
protobuf
ps
puppet
purs
pwsh
py
python
qmake
qml
qrc
qui
r
racket
raku
rdoc
readme
reasonml
red
rego
rescript
robot
rocq
rst
ruby
rust
sass
scala
scdoc
scheme
seed7
sh
slim
smarty
sml
solidity
soy
spark
spec
sql
ssa
stylus
sv
svelte
svg
swift
swig
systemd
taskpaper
tcl
tex
texinfo
textile
tf
thrift
toit
toml
ts
twig
txt
typescript
typoscript
typst
usd
v
vala
vb
vcl
verilog
vhdl
vim
vimscript
vue
webidl
wgsl
wiki
xml
xz
yacc
yaml
yang
z
zig
zsh
zstd" -d 'Count only files of this type; --type-list shows the types'
complete -c weigh -n '__weigh_is tree ui diff df' -l type-not -x -a "ada
agda
aidl
alire
amake
asciidoc
asm
asp
ats
avro
awk
bat
batch
bazel
bitbake
boxlang
brotli
buildstream
bzip2
c
c3
cabal
candid
carp
cbor
ceylon
cfml
clojure
cmake
cmd
cml
coffeescript
config
container
coq
cpp
creole
crystal
cs
csharp
cshtml
csproj
css
csv
cuda
cython
d
dart
devicetree
dhall
diff
dita
docker
dockercompose
dts
dvc
ebuild
edn
elisp
elixir
elm
erb
erlang
fennel
fidl
fish
flatbuffers
fortran
fsharp
fut
gap
gdscript
gleam
gn
go
gprbuild
gradle
graphql
groovy
gzip
h
haml
hare
haskell
hbs
hs
html
hurl
hy
idris
janet
java
jinja
jl
js
json
jsonl
julia
jupyter
k
kconfig
kotlin
lean
less
license
lilypond
lisp
llvm
lock
log
lua
lz4
lzma
m4
make
mako
man
markdown
matlab
md
meson
minified
mint
mk
ml
mojo
motoko
msbuild
nim
ninja
nix
objc
objcpp
ocaml
org
pants
pascal
pdf
perl
php
pkgbuild
po
pod
postscript
powershell
prolog
proto
protobuf
ps
puppet
purs
pwsh
py
python
qmake
qml
qrc
qui
r
racket
raku
rdoc
readme
reasonml
red
rego
rescript
robot
rocq
rst
ruby
rust
sass
scala
scdoc
scheme
seed7
sh
slim
smarty
sml
solidity
soy
spark
spec
sql
ssa
stylus
sv
svelte
svg
swift
swig
systemd
taskpaper
tcl
tex
texinfo
textile
tf
thrift
toit
toml
ts
twig
txt
typescript
typoscript
typst
usd
v
vala
vb
vcl
verilog
vhdl
vim
vimscript
vue
webidl
wgsl
wiki
xml
xz
yacc
yaml
yang
z
zig
zsh
zstd" -d 'Leave out files of this type'
complete -c weigh -n '__weigh_is tree' -l type-list -d 'List the types of files and their globs'
complete -c weigh -n '__weigh_is tree ui clean diff df' -l older -x -d 'Count only entries that were not modified since TIME, as in 90d, 2w, 3mo, 1y, 2026-11-01'
complete -c weigh -n '__weigh_is tree ui diff df' -l newer -x -d 'Count only entries that were modified since TIME, as in 12h, 7d, yesterday'
complete -c weigh -n '__weigh_is tree ui clean diff df' -l owner -r -F -d 'Count only entries that belong to user NAME, or to the user with this number'
complete -c weigh -n '__weigh_is tree clean diff history df' -s n -l number-of-lines -x -d 'Show the NUMBER largest [default: what fits]'
complete -c weigh -n '__weigh_is tree diff history df' -s d -l depth -l max-depth -x -d 'Show DEPTH levels below each PATH'
complete -c weigh -n '__weigh_is tree clean diff history df' -s z -l min-size -x -d 'Show only entries of SIZE or more, as in 512, 10k, 10KiB, 10kB, 1.5G'
complete -c weigh -n '__weigh_is tree diff df' -s D -l only-dir -d 'Show only directories'
complete -c weigh -n '__weigh_is tree diff df' -s F -l only-file -d 'Show only files: a list of the largest'
complete -c weigh -n '__weigh_is tree diff df' -s t -l file-types -d 'Show totals by file extension, like --by type'
complete -c weigh -n '__weigh_is tree diff df' -l by -x -a "type
owner
age
size
image" -d 'Show totals by group'
complete -c weigh -n '__weigh_is tree diff df' -l collapse -r -F -d 'Show directories with this name or path without their content'
complete -c weigh -n '__weigh_is tree ui diff df' -l sort -x -a "size
name
count
time" -d 'Set the order of entries in the same directory'
complete -c weigh -n '__weigh_is tree' -l summarize -d 'Print only the total of each PATH, one per line, like du -sB1 PATH'
complete -c weigh -n '__weigh_is ui' -l df -d 'Also show space that only df sees; PATH has to be a mount point (implies -x)'
complete -c weigh -n '__weigh_is tree ui clean df' -l frees -d 'Also show what deleting each entry frees, where hard links, clones or snapshots share its space'
complete -c weigh -n '__weigh_is ui' -l clean -d 'Begin with the entries that weigh clean lists'
complete -c weigh -n '__weigh_is tree diff df' -l skip-total -d 'Do not show the line of the root'
complete -c weigh -n '__weigh_is clean' -l apply -d 'Remove the entries under "Can go"; weigh first asks you to type the number of files and directories'
complete -c weigh -n '__weigh_is clean' -l free -x -d 'Choose entries until they free SIZE, the least recently written first'
complete -c weigh -n '__weigh_is clean' -l only -x -d 'Only these kinds, as in cargo,npm: names of rules, or how these begin'
complete -c weigh -n '__weigh_is clean' -l trash -d 'Move entries into the trash instead'
complete -c weigh -n '__weigh_is clean' -l empty-trash -d 'List your trash on the file system of PATH, and delete it after the same question'
complete -c weigh -n '__weigh_is clean' -s a -l all -d 'Show a line for each entry, and not for each kind'
complete -c weigh -n '__weigh_is clean' -l verbose -d 'Also show the command that removes each entry (in clean, also -v)'
complete -c weigh -n '__weigh_is watch' -l every -x -d 'Look every TIME, as in 10s or 1min [default: 2s]'
complete -c weigh -n '__weigh_is watch' -l for -x -d 'End after TIME, with a summary'
complete -c weigh -n '__weigh_is tree diff' -l save -r -F -d 'Also save a snapshot in FILE, as in today.weigh; - is standard output'
complete -c weigh -n '__weigh_is tree diff' -l keep -x -d 'With --save DIR/, keep the last snapshot of each of N days, N weeks and N months, and remove the others'
complete -c weigh -n '__weigh_is tree ui diff' -l details -d 'Save inode numbers, owners and all times in the snapshot, too; or show them, with --ui or --as parquet'
complete -c weigh -n '__weigh_is tree ui clean diff' -l from -r -F -d 'Show a snapshot, an export of ncdu, or a list (of a tar file, a bucket) instead of a PATH; - is standard input'
complete -c weigh -n '__weigh_is tree ui diff' -l from-format -x -a "list
du
tar
drive" -d 'How to read a list, if its content does not tell: list, du, tar or drive'
complete -c weigh -n '__weigh_is tree' -l find-format -d 'Print the format for find -printf that --from reads, with all that weigh wants to know'
complete -c weigh -n '__weigh_is tree' -l shard -x -d 'Weigh only one of N shares of PATH: the part numbered I, from 1 to N'
complete -c weigh -n '__weigh_is ui diff' -l since -r -F -d 'Show what changed since SINCE: last, 7d, 2026-11-01, a snapshot'
complete -c weigh -n '__weigh_is tree ui clean diff' -l remember -d 'Also keep this scan as a snapshot, for a later weigh diff or weigh history'
complete -c weigh -n '__weigh_is tree ui clean diff history' -l series -x -d 'Keep snapshots in the series NAME, whatever this host is called (for containers and CI)'
complete -c weigh -n '__weigh_is history' -l scans -d 'List the scans that weigh kept of PATHs (without PATH: all)'
complete -c weigh -n '__weigh_is history' -l forget -d 'Remove the scans that weigh kept of PATHs (without PATH: all), and print which'
complete -c weigh -n '__weigh_is tree diff df' -l fail-over -x -d 'Exit with status 3 if the total exceeds SIZE'
complete -c weigh -n '__weigh_is diff watch' -l fail-growth -x -d 'Exit with status 3 if the total grew by more than SIZE, as in 500M or 20%'
complete -c weigh -n '__weigh_is ui' -l read-only -d 'Turn off deleting'
complete -c weigh -n '__weigh_is ui' -l cd -d 'Print the directory in which you quit, for cd "$(weigh ui --cd)"'
complete -c weigh -n '__weigh_is ui' -l print0 -d 'End the paths that p prints with NUL instead of a newline'
complete -c weigh -n '__weigh_is tree clean diff history df watch' -s j -l output-json -d 'Print everything as JSON'
complete -c weigh -n '__weigh_is tree clean diff history df' -l as -x -a "json\t'The same as -j'
csv\t'A table, one line per entry: path, kind, size, entries, depth'
ndjson\t'The same table as JSON, one object per line'
ncdu\t'The export format of ncdu, for ncdu -f'
folded\t'Stacks for flame graphs'
prometheus\t'Metrics of the PATHs; with -d, -n or -z, of more'
parquet\t'A table for DuckDB, Spark and pandas; more columns with --details'
md\t'A short table in Markdown, for a pull request'
html\t'A page with a map and a table, in one file'
svg\t'The map alone'" -d 'Print a format for other programs: everything, like -j'
complete -c weigh -n '__weigh_is tree diff history df' -s p -l full-paths -d 'Show paths instead of names'
complete -c weigh -n '__weigh_is tree diff df' -s r -l reverse -d 'Print the root at the top, and the largest entries next to it'
complete -c weigh -n '__weigh_is tree diff df' -s b -l no-percent-bars -d 'Print no bars and no percentages'
complete -c weigh -n '__weigh_is tree clean diff history df' -s R -l screen-reader -d 'Print columns of words instead of a tree, for screen readers'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -s o -l output-format -x -a "si
b
k
m
g
t
kb
mb
gb
tb" -d 'Print sizes in powers of 1000 (si), or all in one unit'
complete -c weigh -n '__weigh_is tree ui clean diff history df' -l time-style -x -d 'Print times as full-iso, long-iso, iso, relative, or +FORMAT'
complete -c weigh -n '__weigh_is tree ui clean diff history df' -s w -l terminal-width -x -d 'Draw for a terminal that is WIDTH columns wide'
complete -c weigh -n '__weigh_is tree ui clean diff history df' -l color -x -a "auto
always
never" -d 'Print colours: if the terminal can show them (auto, the default), always, or never'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -s P -l no-progress -d 'Show no progress'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -s q -l quiet -d 'Print nothing but errors on stderr: no progress and no notes'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -l print-errors -d 'Print a line for each path that could not be read'
complete -c weigh -n '__weigh_is tree ui clean diff history df' -l stats -d 'Print what the walk did on stderr: threads, time, system calls'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -s T -l threads -x -d 'Walk with NUMBER threads [default: as many as the storage keeps busy]'
complete -c weigh -n '__weigh_is tree ui clean diff history df' -l rate -x -d 'Look at NUMBER entries a second at most, as in 2000, on a server that is busy'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -l read -x -a "auto
walk
bulk" -d 'How to read ext4: walk, bulk (from its device, several times faster; needs root), or auto (the default)'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch' -l config -r -F -d 'Read settings from FILE instead of ~/.config/weigh/config.toml'
complete -c weigh -n '__weigh_is tree help' -l man -d 'Print the man page'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch help completions' -s h -l help -d 'Print help: -h what weigh can do, --help all flags'
complete -c weigh -n '__weigh_is tree ui clean diff history df watch help completions' -s V -l version -d 'Print the version'
