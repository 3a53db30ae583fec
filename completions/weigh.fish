complete -c weigh -l files0-from -d 'Weigh also the PATHs in FILE, each with a NUL after it; - is standard input' -r -F
complete -c weigh -l files-from -d 'Weigh also the PATHs in FILE, one a line' -r -F
complete -c weigh -s m -l filetime -d 'Show the newest time in a directory, and its size: a (accessed), c (changed) or m (modified)' -r -f -a "a\t''
c\t''
m\t''"
complete -c weigh -s X -l ignore-directory -d 'Leave out what has this name or path' -r -F
complete -c weigh -s e -l filter -d 'Weigh only what has a path that matches, as in -e \'\\.png$\'' -r
complete -c weigh -s v -l invert-filter -d 'Leave out what has a path that matches' -r
complete -c weigh -s I -l ignore-all-in-file -d 'Leave out what has a path that matches a line of FILE, each a REGEX' -r -F
complete -c weigh -l exclude -d 'Leave out what matches, as in .gitignore' -r
complete -c weigh -l include -d 'Weigh only what matches, likewise' -r
complete -c weigh -l ignore-file -d 'Leave out what matches FILE, in the syntax of .gitignore' -r -F
complete -c weigh -l type -d 'Weigh only files of this type, as --type-list has it' -r
complete -c weigh -l type-not -d 'Leave out files of this type' -r
complete -c weigh -s M -l mtime -d 'Weigh only what was written to DAYS ago; +DAYS: earlier, -DAYS: since' -r
complete -c weigh -s A -l atime -d 'Weigh only what was read DAYS ago' -r
complete -c weigh -s y -l ctime -d 'Weigh only what was changed DAYS ago, be it in name, owner or mode' -r
complete -c weigh -s n -l number-of-lines -d 'Show the NUMBER largest [default: what fits]' -r
complete -c weigh -s d -l depth -d 'Show DEPTH levels below each PATH' -r
complete -c weigh -s z -l min-size -d 'Show only what has SIZE or more, as in 512, 10k, 10KiB, 10kB, 1.5G' -r
complete -c weigh -l by -d 'Show totals by group' -r -f -a "type\t''
owner\t''
age\t''
size\t''"
complete -c weigh -l collapse -d 'Show a directory of this name, or this path, without what is in it' -r -F
complete -c weigh -l sort -d 'Order what lies side by side' -r -f -a "size\t''
name\t''
count\t''
time\t''"
complete -c weigh -l save -d 'Save everything in FILE too, compressed if it ends in .zst or .gz; -: print that instead' -r -F
complete -c weigh -l load -d 'Show what is saved in FILE instead of weighing PATH; - is standard input' -r -F
complete -c weigh -l since -d 'Show what changed since FILE was saved, the largest changes first' -r -F
complete -c weigh -l fail-over -d 'End with status 3 if it comes to more than SIZE' -r
complete -c weigh -l fail-growth -d 'End with status 3 if it grew by more than SIZE, as in 500M or 20%' -r
complete -c weigh -l as -d 'Print it for other programs; everything, as with -j' -r -f -a "json\t'Schema 1, as -j'
csv\t'One line an entry: path, kind, size, entries, depth'
ndjson\t'The same as JSON, an object a line'
ncdu\t'What ncdu -f loads'
folded\t'Stacks for viewers of flame graphs'"
complete -c weigh -s o -l output-format -d 'Write sizes by powers of 1000 (si), or all in one unit' -r -f -a "si\t''
b\t''
k\t''
m\t''
g\t''
t\t''
kb\t''
mb\t''
gb\t''
tb\t''"
complete -c weigh -l time-style -d 'Write times as full-iso, long-iso, iso, relative, or +FORMAT' -r
complete -c weigh -s w -l terminal-width -d 'Draw for a terminal of WIDTH columns' -r
complete -c weigh -s T -l threads -d 'Walk on NUMBER threads [default: as many as the storage keeps busy]' -r
complete -c weigh -l config -d 'Read settings from FILE in place of the config file' -r -F
complete -c weigh -l completions -d 'Print the completions for a shell' -r -f -a "bash\t''
elvish\t''
fish\t''
powershell\t''
zsh\t''"
complete -c weigh -s s -l apparent-size -d 'Weigh file lengths instead of allocated blocks'
complete -c weigh -s f -l filecount -d 'Count regular files instead of bytes'
complete -c weigh -l inodes -d 'Count inodes of every kind instead of bytes'
complete -c weigh -s l -l count-links -d 'Count every hard link each time'
complete -c weigh -l unique -d 'Weigh only what deleting would give back: not what has links elsewhere'
complete -c weigh -s L -l dereference-links -d 'Follow symlinks; every directory is still entered once'
complete -c weigh -s x -l limit-filesystem -d 'Stay on the file system of each PATH'
complete -c weigh -s i -l ignore-hidden -d 'Leave out names that begin with a dot'
complete -c weigh -l gitignore -d 'Leave out what git ignores, and what .ignore files say'
complete -c weigh -l ignored -d 'Weigh only what git ignores: what a clean would give back'
complete -c weigh -l type-list -d 'List the types of files, and the globs that make them'
complete -c weigh -s D -l only-dir -d 'Show only directories'
complete -c weigh -s F -l only-file -d 'Show only files, as a list: the largest ones'
complete -c weigh -s t -l file-types -d 'Show totals by file extension (--by type)'
complete -c weigh -l skip-total -d 'Do not show the root\'s line'
complete -c weigh -l details -d 'Save inode, owner and time of last change of everything too'
complete -c weigh -s j -l output-json -d 'Print JSON, of everything unless limited'
complete -c weigh -s p -l full-paths -d 'Show paths instead of names'
complete -c weigh -s r -l reverse -d 'Print the root first and the largest on top'
complete -c weigh -s b -l no-percent-bars -d 'Print no bars and no percentages'
complete -c weigh -s B -l bars-on-right -d 'Draw the bars from the right'
complete -c weigh -l dim -d 'Draw the bars in grey, where there are colours'
complete -c weigh -s R -l screen-reader -d 'Print words in columns, for screen readers'
complete -c weigh -s c -l no-colors -d 'Print no colours'
complete -c weigh -s C -l force-colors -d 'Print colours, terminal or not'
complete -c weigh -s P -l no-progress -d 'Show no progress'
complete -c weigh -l print-errors -d 'Print a line for everything that could not be read'
complete -c weigh -l stats -d 'Say what the walk did, on stderr: threads, time, system calls'
complete -c weigh -l man -d 'Print the man page'
complete -c weigh -s h -l help -d 'Print the flags that are used most; --help: all of them'
complete -c weigh -s V -l version -d 'Print the version'
