_weigh() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=tree words= kept one
    COMPREPLY=()
    # Readline takes --as=csv for three words.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if [[ $COMP_CWORD -gt 1 ]]; then
        case ${COMP_WORDS[1]} in
        ui|clean|diff|history|df|watch|help|completions) command=${COMP_WORDS[1]} ;;
        esac
    fi
    case $prev in
        -m|--filetime) words='a c m' ;;
        --skip) words='network fuse snap' ;;
        --type) words='ada agda aidl alire amake asciidoc asm asp ats avro awk bat batch bazel bitbake boxlang brotli buildstream bzip2 c c3 cabal candid carp cbor ceylon cfml clojure cmake cmd cml coffeescript config container coq cpp creole crystal cs csharp cshtml csproj css csv cuda cython d dart devicetree dhall diff dita docker dockercompose dts dvc ebuild edn elisp elixir elm erb erlang fennel fidl fish flatbuffers fortran fsharp fut gap gdscript gleam gn go gprbuild gradle graphql groovy gzip h haml hare haskell hbs hs html hurl hy idris janet java jinja jl js json jsonl julia jupyter k kconfig kotlin lean less license lilypond lisp llvm lock log lua lz4 lzma m4 make mako man markdown matlab md meson minified mint mk ml mojo motoko msbuild nim ninja nix objc objcpp ocaml org pants pascal pdf perl php pkgbuild po pod postscript powershell prolog proto protobuf ps puppet purs pwsh py python qmake qml qrc qui r racket raku rdoc readme reasonml red rego rescript robot rocq rst ruby rust sass scala scdoc scheme seed7 sh slim smarty sml solidity soy spark spec sql ssa stylus sv svelte svg swift swig systemd taskpaper tcl tex texinfo textile tf thrift toit toml ts twig txt typescript typoscript typst usd v vala vb vcl verilog vhdl vim vimscript vue webidl wgsl wiki xml xz yacc yaml yang z zig zsh zstd' ;;
        --type-not) words='ada agda aidl alire amake asciidoc asm asp ats avro awk bat batch bazel bitbake boxlang brotli buildstream bzip2 c c3 cabal candid carp cbor ceylon cfml clojure cmake cmd cml coffeescript config container coq cpp creole crystal cs csharp cshtml csproj css csv cuda cython d dart devicetree dhall diff dita docker dockercompose dts dvc ebuild edn elisp elixir elm erb erlang fennel fidl fish flatbuffers fortran fsharp fut gap gdscript gleam gn go gprbuild gradle graphql groovy gzip h haml hare haskell hbs hs html hurl hy idris janet java jinja jl js json jsonl julia jupyter k kconfig kotlin lean less license lilypond lisp llvm lock log lua lz4 lzma m4 make mako man markdown matlab md meson minified mint mk ml mojo motoko msbuild nim ninja nix objc objcpp ocaml org pants pascal pdf perl php pkgbuild po pod postscript powershell prolog proto protobuf ps puppet purs pwsh py python qmake qml qrc qui r racket raku rdoc readme reasonml red rego rescript robot rocq rst ruby rust sass scala scdoc scheme seed7 sh slim smarty sml solidity soy spark spec sql ssa stylus sv svelte svg swift swig systemd taskpaper tcl tex texinfo textile tf thrift toit toml ts twig txt typescript typoscript typst usd v vala vb vcl verilog vhdl vim vimscript vue webidl wgsl wiki xml xz yacc yaml yang z zig zsh zstd' ;;
        --by) words='type owner age size image' ;;
        --sort) words='size name count time' ;;
        --from-format) words='list du tar drive' ;;
        --as) words='json csv ndjson ncdu folded prometheus parquet md html svg' ;;
        -o|--output-format) words='si b k m g t kb mb gb tb' ;;
        --color) words='auto always never' ;;
        --read) words='auto walk bulk' ;;
        --files0-from|--files-from|-X|--ignore-directory|--exclude-from|--owner|--collapse|--save|--from|--since|--config) return ;;
        --rsh|-e|--filter|-v|--invert-filter|--exclude|--include|--older|--newer|-n|--number-of-lines|-d|--depth|--max-depth|-z|--min-size|--free|--only|--every|--for|--keep|--shard|--series|--fail-over|--fail-growth|--time-style|-w|--terminal-width|-T|--threads|--rate) compopt +o default; return ;;
    esac
    if [[ -n $words ]]; then
        compopt +o default
    elif [[ $cur == -* ]]; then
        case $command in
            tree) words='--rsh --files0-from --files-from -s --apparent-size -f --filecount --inodes -m --filetime -l --count-links -L --dereference-links --overlays -x --limit-filesystem --one-file-system --skip -i --ignore-hidden -X --ignore-directory -e --filter -v --invert-filter --exclude --include --exclude-from --gitignore --only-ignored --exclude-caches --type --type-not --type-list --older --newer --owner -n --number-of-lines -d --depth --max-depth -z --min-size -D --only-dir -F --only-file -t --file-types --by --collapse --sort --summarize --frees --skip-total --save --keep --details --from --from-format --find-format --shard --remember --series --fail-over -j --output-json --as -p --full-paths -r --reverse -b --no-percent-bars -R --screen-reader -o --output-format --time-style -w --terminal-width --color -P --no-progress -q --quiet --print-errors --stats -T --threads --rate --read --config --man -h --help -V --version' ;;
            ui) words='--rsh --files0-from --files-from -s --apparent-size -f --filecount --inodes -l --count-links -L --dereference-links --overlays -x --limit-filesystem --one-file-system --skip -i --ignore-hidden -X --ignore-directory -e --filter -v --invert-filter --exclude --include --exclude-from --gitignore --only-ignored --exclude-caches --type --type-not --older --newer --owner --sort --df --frees --clean --details --from --from-format --since --remember --series --read-only --cd --print0 -o --output-format --time-style -w --terminal-width --color -P --no-progress -q --quiet --print-errors --stats -T --threads --rate --read --config -h --help -V --version' ;;
            clean) words='--files0-from --files-from -x --limit-filesystem --one-file-system --skip -X --ignore-directory --exclude --exclude-from --older --owner -n --number-of-lines -z --min-size --frees --apply --free --only --trash --empty-trash -a --all --verbose --from --remember --series -j --output-json --as -R --screen-reader -o --output-format --time-style -w --terminal-width --color -P --no-progress -q --quiet --print-errors --stats -T --threads --rate --read --config -h --help -V --version' ;;
            diff) words='--rsh --files0-from --files-from -s --apparent-size -f --filecount --inodes -l --count-links -L --dereference-links --overlays -x --limit-filesystem --one-file-system --skip -i --ignore-hidden -X --ignore-directory -e --filter -v --invert-filter --exclude --include --exclude-from --gitignore --only-ignored --exclude-caches --type --type-not --older --newer --owner -n --number-of-lines -d --depth --max-depth -z --min-size -D --only-dir -F --only-file -t --file-types --by --collapse --sort --skip-total --save --keep --details --from --from-format --since --remember --series --fail-over --fail-growth -j --output-json --as -p --full-paths -r --reverse -b --no-percent-bars -R --screen-reader -o --output-format --time-style -w --terminal-width --color -P --no-progress -q --quiet --print-errors --stats -T --threads --rate --read --config -h --help -V --version' ;;
            history) words='-s --apparent-size -f --filecount --inodes -n --number-of-lines -d --depth --max-depth -z --min-size --series --scans --forget -j --output-json --as -p --full-paths -R --screen-reader -o --output-format --time-style -w --terminal-width --color -P --no-progress -q --quiet --print-errors --stats -T --threads --rate --read --config -h --help -V --version' ;;
            df) words='--rsh --files0-from --files-from --overlays -x --limit-filesystem --one-file-system --skip -i --ignore-hidden -X --ignore-directory -e --filter -v --invert-filter --exclude --include --exclude-from --gitignore --only-ignored --exclude-caches --type --type-not --older --newer --owner -n --number-of-lines -d --depth --max-depth -z --min-size -D --only-dir -F --only-file -t --file-types --by --collapse --sort --frees --skip-total --fail-over -j --output-json --as -p --full-paths -r --reverse -b --no-percent-bars -R --screen-reader -o --output-format --time-style -w --terminal-width --color -P --no-progress -q --quiet --print-errors --stats -T --threads --rate --read --config -h --help -V --version' ;;
            watch) words='-x --limit-filesystem --one-file-system --skip --every --for --fail-growth -j --output-json -o --output-format -P --no-progress -q --quiet --print-errors -T --threads --read --config -h --help -V --version' ;;
            help) words='--man -h --help -V --version' ;;
            completions) words='-h --help -V --version' ;;
        esac
        compopt +o default
    else
        case $command in
        help) words='ui clean diff history df watch help completions'; compopt +o default ;;
        completions) words='bash elvish fish powershell zsh'; compopt +o default ;;
        diff)
            # The first word after it may be a time.
            for one in "${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
                [[ $one == -* ]] || return 0
            done
            words='last yesterday monday 12h 7d 2w 3mo 1y'
            for kept in "${XDG_STATE_HOME:-$HOME/.local/state}"/weigh/snapshots/*/weigh-*.weigh; do
                kept=${kept##*/weigh-} kept=${kept%%T*}
                [[ $kept == \** || " $words " == *" $kept "* ]] || words+=" $kept"
            done
            ;;
        tree) [[ $COMP_CWORD -gt 1 ]] || words='ui clean diff history df watch help completions' ;;
        esac
    fi
    while IFS= read -r one; do
        COMPREPLY+=("$one")
    done < <(compgen -W "$words" -- "$cur")
    case $command:$COMP_CWORD:$cur in
    *:-*) ;;
    diff:*|tree:1:*)
        # Beside words, paths are offered here.
        if [[ ${#COMPREPLY[@]} -gt 0 ]]; then
            compopt -o filenames
            while IFS= read -r one; do
                COMPREPLY+=("$one")
            done < <(compgen -f -- "$cur")
        fi
        ;;
    esac
} 2>/dev/null

complete -o bashdefault -o default -o nosort -F _weigh weigh 2>/dev/null ||
    complete -o bashdefault -o default -F _weigh weigh
