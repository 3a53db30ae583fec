# Prints what zsh offers where `$3` ends, with the completions in the file `$1`, in the directory `$2`: a candidate a line.
# zsh completes only in an interactive shell, so one runs on a terminal of its own.
zmodload zsh/zpty || exit 2
zpty shell zsh -f -i
setup=$(mktemp)
cat >$setup <<'END'
PROMPT=
bindkey '^M' undefined
bindkey '^J' undefined
bindkey '^I' complete-word
mark() { echo -E - $'\0' }
compprefuncs=(mark)
comppostfuncs=(mark exit)
zstyle ':completion:*' list-grouped false
zstyle ':completion:*' insert-tab false
# Instead of offering candidates, prints them.
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
        builtin compadd "$@"
        return
    fi
    typeset -a found
    builtin compadd -A found "$@"
    (( $#found )) && print -rl -- $found
}
echo ready
END
zpty -w shell "cd ${(q)2} && autoload -Uz compinit && compinit -D -u && source ${(q)1} && source $setup"
while zpty -r shell line; do
    [[ $line == ready* ]] && break
done
rm -f $setup
zpty -w -n shell "$3"$'\t'
integer marks=0
while zpty -r shell line; do
    line=${line%%[[:space:]]#}
    if [[ $line == *$'\0'* ]]; then
        (( ++marks == 2 )) && break
    elif (( marks == 1 )); then
        print -r -- ${line%$'\r\n'}
    fi
done
