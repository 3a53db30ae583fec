exec 3<&0 </dev/null 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
e=
case $(weigh --version 2>/dev/null) in
"weigh {{version}}."*)
echo; echo '{{answer}}weigh'
weigh --config= -q --save=- --save-as=weigh{{flags}} --{{paths}} 3<&- &
;;
*)
LC_ALL=C; export LC_ALL
if find / -maxdepth 0 -printf '' 2>/dev/null; then
l() { exec find -H{{paths}}{{stay}} -printf '{{format}}'; }
else
if stat -c %d / >/dev/null 2>&1; then o=-c
f='find %d %i %h %b %s %Y %Z 0 %u %g %a|%F'
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
l() {
s=0
for r in{{paths}}; do
find -H "$r"{{stay}} -exec sh -c "$each" "$r" {} +
t=$?; [ $t -lt $s ] || s=$t
done
exit $s
}
fi
echo; echo '{{answer}}find'
e=1
l 3<&- &
;;
esac
p=$!
(cat <&3; kill $p) >/dev/null 2>&1 & k=$!
wait $p; s=$?
kill $k 2>/dev/null
[ ! $e ] || printf '{{end}}'
exit $s
