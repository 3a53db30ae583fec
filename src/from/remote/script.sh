exec 3<&0 </dev/null 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
unset IFS CDPATH
e= f=none a= m=
while read -r m w <&3; do
case $m in
weigh-flags) f=$w;;
weigh-paths) a=$a:$w;;
*) break;;
esac
done
[ "$m" = weigh-end ] && [ "$f" != none ] || {
echo 'what to weigh did not arrive: a program that the shell starts may have read standard input' >&2; exit 1; }
each_batch() { IFS=:; for w in $a; do
unset IFS
[ ! "$w" ] || eval "$1 $(printf %b "$w")"
done; }
{{space}}case $(weigh --version 2>/dev/null) in
"weigh {{version}}."*)
echo; echo '{{answer}}weigh'
eval "set -- $(printf %b "$f")"
each_batch "printf '%s\\0'" 2>/dev/null 3<&- | weigh --config= -q --save=- "$@" --files0-from=- 3<&- &
;;
*)
LC_ALL=C; export LC_ALL
run() { "$@" & c=$!; wait $c; t=$?; [ $t -lt $s ] || s=$t; }
if find / -maxdepth 0 -printf '' 2>/dev/null; then
is_kernel='-type d ( {{kernel}} )'
find / -maxdepth 0 $is_kernel >/dev/null 2>&1 || is_kernel=
all() { run find -H "$@"{{stay}} -printf '{{format}}'; }
most() { run find -H "$@"{{stay}} $is_kernel -prune -o -printf '{{format}}'; }
has_kernel() { [ "$(find -H "$@" -maxdepth 0 $is_kernel -printf x 2>/dev/null)" ]; }
batch() { if [ ! "$is_kernel" ]; then all "$@"
elif has_kernel "$@"; then for r do if has_kernel "$r"; then all "$r"; else most "$r"; fi; done
else most "$@"; fi; }
else
mounts= devices=' '
if stat -c %d / >/dev/null 2>&1; then o=-c
f='find %d %i %h %b %s %Y %Z 0 %u %g %a|%F'
[ ! -r /proc/self/mountinfo ] || while read -r x x n x m t; do
t=${t#*- }
case ${t%% *} in {{kinds}}) ;; *) continue;; esac
case $m in *\\*) m=$(printf %s. "$m" | sed 's/\\/\\0/g'); m=$(printf %b "$m"); m=${m%.};; esac
i=${n%:*} j=${n#*:}
n=$(( (j & 255) | (i << 8) | ((j & ~255) << 12) ))
devices="$devices$n "
[ "$(stat -c %d "$m" 2>/dev/null)" = "$n" ] || continue
case $m in *\'*) m=$(printf %s. "$m" | sed "s/'/'\\\\''/g"); m=${m%.};; esac
mounts="$mounts '$m'"
done </proc/self/mountinfo
elif stat -f %d / >/dev/null 2>&1; then o=-f
f='find %d %i %l %b %z %m %c %B %u %g %Lp|%HT'
else echo 'it has no weigh of this version, no find with -printf, and no stat' >&2; exit 127; fi
export o f
each='say() { while IFS= read -r a; do
t=${a#*|}; case $t in [Rr]*) t=f;; [Dd]*) t=d;; [Ss]y*) t=l;; [Ff]*) t=p;; [Ss]*) t=s;; [Cc]*) t=c;; *) t=b;; esac
p=${1#"$0"}; printf "%s %s %s\0%s\0" "${a%%|*}" $t "$0" "${p#/}"; shift; done; }
no() { printf "find: %s: %s\n" "$1" "${a##*: }" >&2; s=1; }
s=0; if [ "$1" = "$0" ]; then
a=$(stat -L $o "$f" "$1" 2>/dev/null || stat $o "$f" "$1" 2>&1) || { no "$1"; exit 1; }
printf "%s\n" "$a" | say "$1"; shift; fi
[ $# -gt 0 ] || exit 0
if a=$(stat $o "$f" "$@" 2>/dev/null); then printf "%s\n" "$a" | say "$@"; exit; fi
for x do if a=$(stat $o "$f" "$x" 2>&1); then printf "%s\n" "$a" | say "$x"; continue; fi
case ${a##*: } in "No such file"*) ;; *) no "$x";; esac; done; exit $s'
root() { set --
case $devices in *" $(stat -L -c %d "$r" 2>/dev/null) "*) ;; *) eval "set -- $mounts";; esac
[ $# -eq 0 ] || d=$(cd "$r" 2>/dev/null && pwd -P && echo .) || set --
d=${d%??} d=${d%/}
for m do shift
case $m in "$d"/*) m=${r%/}/${m#"$d"/}
case $m in *[]*?[\\]*) m=$(printf %s. "$m" | sed 's/[][*?\\]/\\&/g'); m=${m%.};; esac
set -- "$@" -o -path "$m";; esac
done
[ $# -eq 0 ] || { shift; set -- -type d '(' "$@" ')' -prune -o; }
run find -H "$r"{{stay}} "$@" -exec sh -c "$each" "$r" {} +; }
batch() { for r do root; done; }
fi
echo; echo '{{answer}}find'
e=1
list() { s=0 c= d=; trap 'kill $c 2>/dev/null; wait $c; exit 143' TERM; each_batch batch; exit $s; }
list 3<&- &
;;
esac
p=$!
(cat <&3; kill $p) >/dev/null 2>&1 & k=$!
wait $p; s=$?
kill $k 2>/dev/null
[ ! $e ] || printf '{{end}}%s\n' $s
exit $s
